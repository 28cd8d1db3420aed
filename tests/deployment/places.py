"""The servers that a deployment finds: PostgreSQL with a database and a user for the board and for
Prefect, an S3 server, and Prefect with a password."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.servers import postgres, s3
from tests.servers.process import answers, free_ports, running, wait_until
from tests.servers.s3 import S3Server

AUTH = "armillary:a-password-of-prefects"
PASSWORDS = {"armillary": "apasswordoftheboards", "prefect": "apasswordofprefects"}


@dataclass(frozen=True, slots=True)
class Places:
    """Where the servers are: `database` has a superuser's password in it."""

    database: str
    objects: S3Server
    prefect_port: int

    @property
    def superuser(self) -> dict[str, str]:
        """The variables by which psql reaches the database as whoever may create roles."""
        url = urlsplit(self.database)
        return {
            "PGHOST": str(url.hostname),
            "PGPORT": str(url.port),
            "PGUSER": str(url.username),
            "PGPASSWORD": str(url.password),
        }


@contextmanager
def places() -> Iterator[Places]:
    """PostgreSQL as a distribution packs it, which Prefect can use, and S3; nothing in either."""
    with postgres.killable() as (database, _), s3.killable() as (objects, _):
        yield Places(database.url, objects, free_ports(1)[0])


def make_databases(found: Places, script: Path, folder: Path) -> None:
    """What the image of PostgreSQL runs when it starts for the first time."""
    secrets = folder / "postgres-secrets"
    secrets.mkdir(parents=True)
    (secrets / "prefect_database_password").write_text(PASSWORDS["prefect"])
    environment = {**os.environ, **found.superuser}
    made = f"CREATE ROLE armillary LOGIN PASSWORD '{PASSWORDS['armillary']}'"
    for statement in (made, "CREATE DATABASE armillary OWNER armillary"):
        subprocess.run(["psql", "-qd", "postgres", "-c", statement], env=environment, check=True)
    text = script.read_text().replace("/run/secrets", str(secrets))
    names = {"POSTGRES_USER": found.superuser["PGUSER"], "POSTGRES_DB": "armillary"}
    subprocess.run(["sh", "-c", text], env=environment | names, check=True)


@contextmanager
def prefect(found: Places, folder: Path, told: dict[str, str]) -> Iterator[None]:
    """Prefect's server with the variables that a deployment gives it."""
    port = str(found.prefect_port)
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", port]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "ARMI"))}
    environment |= told | {"PREFECT_HOME": str(folder / "prefect"), "NO_PROXY": "127.0.0.1"}
    with running(command, folder / "prefect.log", environment=environment, folder=folder) as server:
        wait_until(lambda: answers(found.prefect_port, "/api/health"), [server], 600)
        yield

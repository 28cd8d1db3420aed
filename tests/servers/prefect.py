"""A Prefect server over SQLite, in a home of its own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .process import answers, free_ports, running, wait_until
from .unavailable import Unavailable


@dataclass(frozen=True, slots=True)
class PrefectServer:
    """A running server, and an empty home for those who talk to it."""

    api_url: str
    client_home: Path
    pids: tuple[int, ...]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that send a flow, a worker or a client here and nowhere else."""
        return {
            "PREFECT_API_URL": self.api_url,
            "PREFECT_HOME": str(self.client_home),
            "DO_NOT_TRACK": "1",
            "NO_PROXY": "127.0.0.1",
        }


@contextmanager
def serve() -> Iterator[PrefectServer]:
    """Run `prefect server start` with a new database; about 25 seconds."""
    if find_spec("prefect") is None:
        raise Unavailable("Prefect is not installed.")
    with tempfile.TemporaryDirectory(
        prefix="armillary-prefect-", ignore_cleanup_errors=True
    ) as name:
        folder, (port,) = Path(name), free_ports(1)
        client_home = folder / "client"
        client_home.mkdir()
        command = [
            sys.executable,
            "-m",
            "prefect",
            "server",
            "start",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        # Prefect also reads settings from the working folder: give it one without any.
        with running(
            command, folder / "prefect.log", environment=_settings(folder), folder=folder
        ) as process:
            wait_until(lambda: answers(port, "/api/health"), [process], 600)
            yield PrefectServer(f"http://127.0.0.1:{port}/api", client_home, (process.pid,))


def _settings(folder: Path) -> dict[str, str]:
    """Our own variables without the developer's Prefect settings, and those of this server."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")
    }
    return inherited | {
        "DO_NOT_TRACK": "1",
        "PREFECT_HOME": str(folder / "server"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{folder / 'prefect.db'}",
        "PREFECT_SERVER_UI_ENABLED": "false",
    }

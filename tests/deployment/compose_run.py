"""`make compose-test`: builds the images, starts everything that compose.yaml names on a container
engine of this machine, and sends one submission through."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bundles import drawn_outputs
from tests.command import ROOT
from tests.deployment.composed import COMPOSE

OVERRIDE = Path(__file__).with_name("compose_override.yaml")
TEAM = "Test team"
WANTED = ("POSTGRES_PASSWORD", "PREFECT_DATABASE_PASSWORD", "S3_KEY", "S3_SECRET", "METRICS_TOKEN")


def main() -> int:
    """From no container to a published entry; everything is removed again."""
    if not has_engine():
        print("There is no container engine here (`docker info` fails): nothing was tested.")
        return 1
    with tempfile.TemporaryDirectory(prefix="armillary-compose-") as name, _up(Path(name)) as run:
        run("run", "--rm", "cpu", "armillary", "operate", "team", "add", TEAM)
        made = run("run", "--rm", "cpu", "armillary", "operate", "token", "create", TEAM)
        token = made.strip().splitlines()[-1]
        bundle = drawn_outputs(Path(name) / "bundle.zip")
        server = ("--server", "http://127.0.0.1:8502", "--token", token)
        received = _armillary("submit", str(bundle), *server)
        submission = next(word.strip(".") for word in received.split() if word.startswith("sub-"))
        print(_armillary("status", submission, *server, "--watch"))
        print(run("run", "--rm", "evaluations", "armillary", "doctor"))
    return 0


def has_engine() -> bool:
    """Whether docker is installed and its engine answers."""
    try:
        return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextmanager
def _up(folder: Path) -> Iterator[_Run]:
    """Everything started and healthy, with passwords of its own; gone afterwards."""
    (folder / ".env").write_text(_environment())
    files = ("--file", str(COMPOSE), "--file", str(OVERRIDE), "--env-file", str(folder / ".env"))
    run = _Run(["docker", "compose", *files, "--project-name", "armillary-test"])
    try:
        run("up", "--build", "--detach", "--wait", "--wait-timeout", "900")
        yield run
    finally:
        run("down", "--volumes", "--timeout", "5")


def _environment() -> str:
    """The example as an operator fills it in: every variable is there, passwords are drawn."""
    filled = {name: secrets.token_hex(16) for name in WANTED}
    filled["PREFECT_AUTH"] = f"armillary:{secrets.token_hex(16)}"
    example = (COMPOSE.parent / "env.example").read_text().splitlines()
    lines = [line for line in example if line and not line.startswith("#")]
    names = [line.partition("=")[0] for line in lines]
    given = [
        f"{name}={filled[name]}" if name in filled else line
        for name, line in zip(names, lines, strict=True)
    ]
    return "\n".join([*given, ""])


class _Run:
    """A command of compose, to its end."""

    def __init__(self, command: list[str]) -> None:
        self._command = command

    def __call__(self, *words: str) -> str:
        """What it printed; an error ends the test."""
        done = subprocess.run(
            [*self._command, *words], stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout


def _armillary(*words: str) -> str:
    command = [sys.executable, "-m", "flows.cli.app", *words]
    environment = {**os.environ, "COLUMNS": "400"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

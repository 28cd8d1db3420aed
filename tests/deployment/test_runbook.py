"""The operator's book, typed line by line into a shell, from nothing to a published entry."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.command import WIDE
from tests.deployment.book import TypedBlock, blocks
from tests.deployment.places import Places, places
from tests.servers.process import answers, free_ports, running, wait_until

PATIENCE = 900.0
STEPS = (
    "psql",
    "operate bucket",
    "operate deploy",
    "operate watchdog",
    "doctor",
    "submit",
    "drill",
)


def test_the_book_has_every_part_of_a_board() -> None:
    text = "\n".join(block.text for block in blocks())

    assert [step for step in STEPS if step not in text] == []
    assert sum(block.services for block in blocks()) == 2
    assert all(f"operate worker --pool {pool}" in text for pool in ("cpu", "gpu"))


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_an_operator_gets_from_nothing_to_a_published_entry_by_the_book(tmp_path: Path) -> None:
    settings, *chapters = blocks()
    with places() as found, ExitStack() as stack:
        shell = Shell(tmp_path, _surroundings(tmp_path, found))
        shell.environment = {**shell.environment, **_own(tmp_path, found)}
        assert "export BOARD=" in settings.text
        for number, block in enumerate(chapters):
            if block.services:
                _start(block, shell, stack, tmp_path / f"services-{number}")
                _wait(block, shell)
            elif "armillary doctor" in block.text:
                _healthy(block, shell)
            else:
                shell.type(block.text)
        told = shell.type("armillary status $ID --json && armillary board tailor --json")

    assert "published" in told


class Shell:
    """A shell that goes on where it was: folder and variables outlive a block."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, dict(environment)
        self._kept = folder / "shell.env"

    def type(self, text: str, status: int = 0) -> str:
        """Type a block; a line that fails ends it."""
        script = f"set -ea\n{text}\nexport -p > {self._kept}; pwd >> {self._kept}.folder\n"
        done = subprocess.run(
            ["bash", "-c", script],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == status, f"{text}\n{done.returncode}\n{done.stdout}"
        if not status:
            self._remember()
        return done.stdout

    def _remember(self) -> None:
        """What the block exported or set, and where it went."""
        self.folder = Path(Path(f"{self._kept}.folder").read_text().split()[-1])
        after = subprocess.run(
            ["bash", "-c", f". {self._kept}; env -0"], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        pairs = (line.partition("=") for line in after.split("\0") if "=" in line)
        self.environment |= {name: value for name, _, value in pairs if name not in ("_", "SHLVL")}


def _surroundings(folder: Path, found: Places) -> dict[str, str]:
    """A clean account: programs, a home of its own, and no setting of ours."""
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {
        "PATH": programs,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "COLUMNS": WIDE,
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PGPASSWORD": found.superuser["PGPASSWORD"],
        "PREFECT_CLI_PROMPT": "false",
    }


def _own(folder: Path, found: Places) -> dict[str, str]:
    """What the first block leaves to the operator."""
    board, api, rating = map(str, free_ports(3))
    return {
        "BOARD": str(folder / "srv"),
        **{name: found.superuser[name] for name in ("PGHOST", "PGPORT", "PGUSER")},
        "S3": found.objects.endpoint,
        "S3_KEY": found.objects.key,
        "S3_SECRET": found.objects.secret,
        "PREFECT": f"127.0.0.1:{found.prefect_port}",
        "BOARD_PORT": board,
        "API_PORT": api,
        "RATING_PORT": rating,
    }


def _start(block: TypedBlock, shell: Shell, stack: ExitStack, folder: Path) -> None:
    """Each line in a terminal of its own."""
    folder.mkdir()
    for number, line in enumerate(block.text.splitlines()):
        script = f"exec env {line}" if "=" in line.split()[0] else f"exec {line}"
        stack.enter_context(
            running(
                ["/bin/bash", "-c", script],
                folder / f"{number}.log",
                environment=shell.environment,
                folder=shell.folder,
            )
        )


def _wait(block: TypedBlock, shell: Shell) -> None:
    """Until those that listen answer."""
    ports = shell.environment
    reached = {
        "prefect server": (ports["PREFECT"].partition(":")[2], "/api/health"),
        "operate api": (ports["API_PORT"], "/health/ready"),
        "armillary serve": (ports["BOARD_PORT"], "/_stcore/health"),
        "study serve": (ports["RATING_PORT"], "/_stcore/health"),
    }
    for name, (port, path) in reached.items():
        if name in block.text:
            wait_until(lambda port=port, path=path: answers(int(port), path), [], PATIENCE)  # type: ignore[misc]


def _healthy(block: TypedBlock, shell: Shell) -> None:
    """The doctor is asked until workers and watchdog have given their first signs; the last answer
    has to be good."""
    deadline = time.monotonic() + PATIENCE / 3
    while time.monotonic() < deadline:
        try:
            shell.type(block.text)
            return
        except AssertionError:
            time.sleep(5)
    shell.type(block.text)

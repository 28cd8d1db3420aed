"""Shards for a worker of a cluster that write down that they ran, and where."""

from __future__ import annotations

import time
from pathlib import Path

from flows.workers.confined.fault_rules import GivenBack, WorkerFault


def given_back(folder: str) -> None:
    """No machine can run it."""
    _note(folder)
    raise GivenBack("no machine of ours could run it")


def failed_by_its_machine(folder: str, times: int) -> int:
    """Lose the device so many times; then say how often it ran."""
    runs = _note(folder)
    if runs <= times:
        raise WorkerFault("the accelerator failed")
    return runs


def held(folder: str) -> None:
    """Keep its worker until a file says `go`."""
    _note(folder)
    while not (Path(folder) / "go").exists():
        time.sleep(0.05)


def _note(folder: str) -> int:
    from distributed import get_worker

    runs = Path(folder) / "runs"
    with runs.open("a") as file:
        file.write(f"{get_worker().address}\n")
    return len(runs.read_text().split())

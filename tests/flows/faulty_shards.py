"""Shards for a worker of a cluster that write down that they ran, and where."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluators.contracts import Facets, Outcome, Output, Sample
from flows.workers.confined.fault_rules import GivenBack, WorkerFault
from flows.workers.retry import Tries, generate_with_retries
from flows.workers.specs import OutputRecord
from infra.store import open_store

SAMPLES = ("first", "second", "third")


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


def named(folder: str, name: str, gate: str = "") -> str:
    """Wait for a file, if one is named, and write the name down."""
    while gate and not (Path(folder) / gate).exists():
        time.sleep(0.05)
    with (Path(folder) / "order").open("a") as order:
        order.write(f"{name}\n")
    return name


def killed_once(folder: str) -> list[str]:
    """Three samples, at the second of which the worker is killed the first time."""
    runs = _note(folder)

    def generate(samples: Sequence[Sample]) -> Iterator[Output]:
        for sample in samples:
            if sample.id == "second" and runs == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            yield Output(sample.id, Outcome.SCORED)

    def stored(output: Output) -> OutputRecord:
        return OutputRecord(output.sample_id, output.outcome)

    samples = [Sample(name, Facets("", "", "", "image"), "", "") for name in SAMPLES]
    records = generate_with_retries(samples, generate, stored, tries_in(folder))
    return [f"{record.sample_id} {record.outcome}" for record in records]


def tries_in(folder: str) -> Tries:
    """What the tries at the shard of this folder left."""
    return Tries(open_store(f"{folder}/store"), "shard")


def _note(folder: str) -> int:
    from distributed import get_worker

    runs = Path(folder) / "runs"
    with runs.open("a") as file:
        file.write(f"{get_worker().address}\n")
    return len(runs.read_text().split())

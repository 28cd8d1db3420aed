"""A machine that fails under a model costs the model nothing: the entry is whole, and its timeline
says what happened."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluators.contracts import Generator, Outcome, Output, Sample
from flows.workers import outputs as worker
from flows.workers.confined.fault_rules import MachineFault, OutOfTime, WorkerFault
from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from infra.tables import Run, Submission
from submissions.intake.api_entry import enter
from submissions.intake.submission_log import log_lines
from submissions.teams.lifecycle import timeline
from tests.bundles import declaration, demo_samples, picture

FAULTS = 3


class Failing:
    """Paints a picture a sample; at the fifth the machine fails as often as `left` says."""

    def __init__(self, left: int) -> None:
        self.left, self.bad = left, demo_samples()[4].id
        self.fault = WorkerFault("the model's process was ended by SIGKILL")

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        for number, sample in enumerate(samples):
            if sample.id == self.bad and self.left:
                self.left -= 1
                raise self.fault
            file = folder / f"{sample.id}.png"
            file.write_bytes(picture(number, (64, 64)))
            yield Output(sample.id, Outcome.SCORED, file)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    model = Failing(FAULTS)

    def open_model(*_arguments: object) -> Generator:
        return model

    monkeypatch.setattr(worker, "open_api", open_model)
    return model


@pytest.mark.parametrize("engine", ["here", "threads"])
def test_an_entry_whose_machine_failed_three_times_is_whole_and_says_so(
    here: Settings, failing: Failing, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flows.evaluate.flow import run_here

    monkeypatch.setenv("ARMILLARY_ENGINE", engine)
    entry = entered(here)

    finished = run_here(entry, Settings())

    with session(here.database) as db:
        run = db.get_one(Run, finished.run_id)
        events = [event for event in timeline(db, entry) if event.kind == "tried_again"]
    assert (finished.state, run.n_scored, run.n_expected) == ("published", 30, 30)
    assert failing.left == 0 and len(events) == FAULTS
    assert all(event.text.startswith(failing.bad) for event in events)
    assert "SIGKILL" in events[0].text and "our fault" in events[0].text


def test_an_entry_whose_worker_died_is_whole_and_says_so(here: Settings, failing: Failing) -> None:
    from flows.evaluate.flow import run_here
    from flows.evaluate.outputs import plan_outputs
    from flows.run.case import open_case

    entry = entered(here)
    case = open_case(here, entry)
    shard = next(work for work in plan_outputs(case).shards if failing.bad in work.sample_ids)
    worker_that_dies = os.fork()
    if worker_that_dies == 0:
        failing.generate = killed_at(failing.bad, failing.generate)  # type: ignore[method-assign]
        try:
            worker.make_outputs(shard, case.place)
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(worker_that_dies, 0)[1])
    failing.left = 0

    finished = run_here(entry, Settings())

    with session(here.database) as db:
        run = db.get_one(Run, finished.run_id)
        told = [event.text for event in timeline(db, entry) if event.kind == "tried_again"]
    assert (finished.state, run.n_scored, run.n_expected) == ("published", 30, 30)
    assert told == [
        f"{failing.bad}: the worker that made it ended. This is our fault; it was tried again."
    ]


def killed_at(bad: str, generate: Callable[..., Iterator[Output]]) -> Callable[..., Any]:
    """The same, but its process ends instead of making this sample."""

    def generate_until(samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        for sample in samples:
            if sample.id == bad:
                os.kill(os.getpid(), signal.SIGKILL)
            yield from generate([sample], folder)

    return generate_until


@pytest.mark.parametrize(
    ("fault", "most"),
    [
        (MachineFault("the accelerator had too little memory left (OutOfMemoryError)"), 4),
        (OutOfTime("it took over 1800 seconds, which is our limit"), 3),
    ],
)
def test_a_model_that_no_machine_of_ours_can_run_is_given_back_and_can_be_taken_up_again(
    here: Settings, failing: Failing, fault: MachineFault, most: int
) -> None:
    from flows.evaluate.flow import run_here
    from flows.run.case import Stopped

    failing.left, failing.fault = 10**6, fault
    entry = entered(here)

    with pytest.raises(Stopped, match="No machine of ours could make an output of this model"):
        run_here(entry, Settings())

    with session(here.database) as db:
        submission = db.get_one(Submission, entry)
    assert (submission.state, submission.fault) == ("failed", "ours")
    assert submission.code == ("E_TOO_SLOW" if most == 3 else "E_CANNOT_PRODUCE")
    assert 10**6 - failing.left == most
    failing.left = 0
    finished = run_here(entry, Settings())
    with session(here.database) as db:
        run = db.get_one(Run, finished.run_id)
    assert (finished.state, run.n_scored, run.n_expected) == ("published", 30, 30)


def test_a_team_reads_what_its_model_wrote_and_the_public_does_not(
    here: Settings, failing: Failing
) -> None:
    from flows.evaluate.flow import run_here
    from leaderboard.queries.entries import timeline as public_timeline

    entry = entered(here)
    key = f"{worker.STDERR}/{entry}/00000000000000000001"
    open_store(here.objects).put(key, b"Traceback: the layer is missing")

    run_here(entry, Settings())

    with session(here.database) as db:
        lines = [line.text for line in log_lines(db, entry) if line.stage == worker.STDERR]
        public = [event.text for event in public_timeline(db, entry)]
    assert lines == ["Traceback: the layer is missing"]
    assert not any("layer" in text for text in public)
    assert not open_store(here.objects).exists(key)


def entered(here: Settings) -> str:
    endpoint = {"model": "painter-1", "snapshot": "2026-11-01"}
    with session(here.database) as db:
        declared = declaration(kind="api", endpoint=endpoint)
        return enter(db, open_store(here.objects), declared).submission_id

"""A machine that fails under a model costs the model nothing: the entry is whole, and its timeline
says what happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from evaluators.contracts import Generator, Outcome, Output, Sample
from flows.workers import outputs as worker
from flows.workers.confined.fault_rules import WorkerFault
from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from infra.tables import Run
from submissions.intake.api_entry import enter
from submissions.teams.lifecycle import timeline
from tests.bundles import declaration, demo_samples, picture

FAULTS = 3


class Failing:
    """Paints a picture a sample; at the fifth the machine fails as often as `left` says."""

    def __init__(self, left: int) -> None:
        self.left, self.bad = left, demo_samples()[4].id

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        for number, sample in enumerate(samples):
            if sample.id == self.bad and self.left:
                self.left -= 1
                raise WorkerFault("the model's process was ended by SIGKILL")
            file = folder / f"{sample.id}.png"
            file.write_bytes(picture(number, (64, 64)))
            yield Output(sample.id, Outcome.SCORED, file)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    model = Failing(FAULTS)

    def open_model(*_arguments: object) -> Generator:
        return model

    monkeypatch.setattr(worker, "open_image_api", open_model)
    return model


@pytest.mark.parametrize("engine", ["here", "threads"])
def test_an_entry_whose_machine_failed_three_times_is_whole_and_says_so(
    here: Settings, failing: Failing, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flows.evaluate.flow import run_here

    monkeypatch.setenv("ARMILLARY_ENGINE", engine)
    endpoint = {"model": "painter-1", "snapshot": "2026-11-01"}
    with session(here.database) as db:
        entry = enter(
            db, open_store(here.objects), declaration(kind="api", endpoint=endpoint)
        ).submission_id

    finished = run_here(entry, Settings())

    with session(here.database) as db:
        run = db.get_one(Run, finished.run_id)
        events = [event for event in timeline(db, entry) if event.kind == "tried_again"]
    assert (finished.state, run.n_scored, run.n_expected) == ("published", 30, 30)
    assert failing.left == 0 and len(events) == FAULTS
    assert all(event.text.startswith(failing.bad) for event in events)
    assert "SIGKILL" in events[0].text and "our fault" in events[0].text

"""What everybody reads of a submission names no private sample, and nothing for operators."""

from __future__ import annotations

import pytest
from sqlmodel import select

from evaluators.contracts import Outcome
from flows.evaluate.outputs import _note_set_aside
from flows.workers.retry import GIVEN_UP
from flows.workers.specs import OutputRecord
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission
from leaderboard.queries import entries
from submissions.intake.submission_log import log_lines
from submissions.teams.lifecycle import record


def test_a_private_sample_that_was_given_up_is_named_nowhere(ready: Settings) -> None:
    output = OutputRecord("private.t1.image", Outcome.MODEL_FAILED, "broke", record={GIVEN_UP: 3})
    with session(ready.database) as db:
        entry = db.exec(select(Submission.id).limit(1)).one()
        _note_set_aside(db, entry, [output])

    with session(ready.database) as db:
        texts = [event.text for event in entries.timeline(db, entry)]
        texts += [line.text for line in log_lines(db, entry)]

    assert any("broke" in text for text in texts)
    assert not any("private." in text for text in texts)


@pytest.mark.parametrize("subject", ["nightly", "tailor"])
def test_events_about_anything_but_a_submission_have_no_public_timeline(
    ready: Settings, subject: str
) -> None:
    with session(ready.database) as db:
        record(db, subject, "frozen", "The judge at 10.0.0.7 has drifted.", actor="nightly")

    with session(ready.database) as db:
        assert entries.timeline(db, subject) == []

"""What everybody reads of a submission names no private sample, and nothing for operators."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlmodel import select

from evaluators.contracts import Outcome
from flows.evaluate.outputs import _note_set_aside
from flows.operate.watchdog import Round, _free_the_dead
from flows.workers.retry import GIVEN_UP
from flows.workers.specs import OutputRecord
from infra import leases
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission, now
from infra.tables.operations import Lease
from leaderboard.queries import entries, nights
from submissions.intake.submission_log import log_lines, log_subject
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
        assert not any(event.kind == "frozen" for event in entries.recent_events(db))


def test_what_only_a_team_reads_is_not_among_the_last_events(ready: Settings) -> None:
    with session(ready.database) as db:
        entry = db.exec(select(Submission.id).limit(1)).one()
        record(db, log_subject(entry), "model_wrote", "Traceback of the team's own model")
        record(db, entry, "checked", "for all to read")

    with session(ready.database) as db:
        texts = [event.text for event in entries.recent_events(db)]

    assert "for all to read" in texts and not any("Traceback" in text for text in texts)


def test_dead_workers_are_incidents_and_the_public_reads_no_name_of_a_machine(
    ready: Settings,
) -> None:
    with session(ready.database) as db:
        entry = db.exec(select(Submission.id).limit(1)).one()
        assert leases.acquire(db, entry, "evaluate", "gpu-7.internal:4711", 45)
        db.get_one(Lease, entry).expires_at = now() - timedelta(seconds=1)
    _free_the_dead(ready, Round())

    with session(ready.database) as db:
        dead = [row for row in nights.incidents(db) if row.what == "worker died"]
        timeline = [event.text for event in entries.timeline(db, entry)]

    assert [incident.subject for incident in dead] == [entry]
    assert not any("gpu-7" in text for text in [*timeline, *(row.text for row in dead)])

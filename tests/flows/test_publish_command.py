"""`armillary operate publish`: each submission comes to its own end, whatever became of those
before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import col, select
from typer.testing import CliRunner, Result

from flows.cli.app import app
from flows.evaluate.door import receive
from infra.db import session
from infra.settings import Settings
from infra.store import bundle_key, open_store
from infra.tables import Output, Submission
from tests.bundles import of_several_teams


@pytest.fixture
def waiting(ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Submission]:
    """Submissions of three teams, oldest first, and a machine whose flows run in this process."""
    monkeypatch.setenv("ARMILLARY_ENGINE", "here")
    ids = [
        receive(ready, str(bundle), None, None).submission_id
        for bundle in of_several_teams(tmp_path, 3)
    ]
    return [_submission(ready, submission_id) for submission_id in ids]


def test_a_submission_whose_bundle_was_deleted_keeps_no_other_team_waiting(
    ready: Settings, waiting: list[Submission]
) -> None:
    store, key = open_store(ready.objects), bundle_key(waiting[0].bundle_sha256)
    bundle = store.get(key)
    store.delete(key)

    first, second = _publish(), _publish()
    after = [_submission(ready, row.id) for row in waiting]
    store.put(key, bundle)
    third = _publish()

    assert [(row.state, row.fault, row.code) for row in after] == [
        ("failed", "ours", "E_STORE"), ("published", "", ""), ("published", "", ""),
    ]  # fmt: skip
    assert "An operator" in after[0].reason
    assert (first.exit_code, second.exit_code, third.exit_code) == (1, 1, 0)
    assert f"{waiting[0].id} is failed: E_STORE" in first.output
    assert all(f"{row.id} is published" in first.output for row in waiting[1:])
    assert "2 of 3 submissions brought to the board, 1 failed by our fault." in first.output
    assert "0 of 1 submissions brought to the board, 1 failed by our fault." in second.output
    assert f"{waiting[0].id} is published" in third.output
    assert "Traceback" not in first.output + second.output + third.output


def test_a_submission_that_somebody_else_works_on_or_that_waits_is_no_failure(
    ready: Settings, waiting: list[Submission]
) -> None:
    from flows.durable.lease import hold_lease

    with hold_lease(ready, waiting[1].id, "evaluate"):
        said = _publish()

    assert said.exit_code == 0
    assert f"{waiting[1].id} waits: " in said.output
    assert "2 of 3 submissions brought to the board, 1 waits." in said.output


def test_a_yardstick_that_cannot_be_made_keeps_no_other_from_its_place(
    ready: Settings, waiting: list[Submission]
) -> None:
    from flows.evaluate.flow import run_here
    from infra.store import blob_key

    run_here(waiting[0].id, Settings())
    with session(ready.database) as db:
        media = db.exec(
            select(Output.media_sha256).where(Output.submission_id == waiting[0].id)
        ).first()
    assert media
    open_store(ready.objects).delete(blob_key(media))

    said = CliRunner().invoke(app, ["operate", "sanity"])

    assert said.exit_code == 1
    assert "Another prompt's picture is not made: E_STORE" in said.output
    assert "5 of 6 rows stand beside the ranking, 1 failed by our fault." in said.output
    with session(ready.database) as db:
        states = db.exec(select(Submission.state).where(col(Submission.role) == "sanity")).all()
    assert states == ["published"] * 5


def _publish() -> Result:
    return CliRunner().invoke(app, ["operate", "publish"])


def _submission(settings: Settings, submission_id: str) -> Submission:
    with session(settings.database) as db:
        return db.get_one(Submission, submission_id)

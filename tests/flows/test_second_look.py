"""Weak outputs, and only those, are looked at again; what went wrong is kept and shown, and people
may overrule it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from evaluators.suites import suite_named
from evaluators.suites.tailor.failures import IMAGE, needs_a_look
from flows.evaluate.door import receive
from flows.evaluate.failure_modes import decide
from flows.suites.tailor_items import compute
from infra.db import session
from infra.settings import Settings
from infra.tables import Score
from leaderboard.api.app import create
from leaderboard.queries import failures
from leaderboard.queries.ranking import NotOnBoard
from tests.bundles import drawn_outputs


def values_of(settings: Settings, run_id: str) -> dict[str, dict[str, float | None]]:
    """The scores of each sample."""
    values: dict[str, dict[str, float | None]] = {}
    with session(settings.database) as db:
        for row in db.exec(select(Score).where(Score.run_id == run_id)):
            values.setdefault(row.sample_id, {})[row.metric] = row.value
    return values


def low_samples(settings: Settings, run_id: str) -> set[str]:
    """What the scores themselves say."""
    values = values_of(settings, run_id)
    return {sample for sample, found in values.items() if needs_a_look(found)}


@pytest.mark.xdist_group("servers")
def test_weak_outputs_are_looked_at_once_and_a_persons_word_stands(
    here: Settings, tmp_path: Path
) -> None:
    from flows.audit.verify import verify
    from flows.evaluate.flow import run_here

    submission = receive(
        here, str(drawn_outputs(tmp_path / "bundle.zip")), None, None
    ).submission_id
    run_id = run_here(submission, here).run_id
    with session(here.database) as db:
        found = failures.failures(db, run_id)
    chosen = found[0].sample_id

    decide(here, run_id, chosen, "incorrect_outcome", "Ada", "The rope is whole.")
    run_here(submission, here)

    with session(here.database) as db:
        after = {one.sample_id: one for one in failures.failures(db, run_id)}
        figures = failures.figures(db, "tailor")
    rows = TestClient(create(here)).get(f"/v1/runs/{run_id}/failures").json()["rows"]
    assert {one.sample_id for one in found} == low_samples(here, run_id)
    assert 0 < len(found) < 30
    assert {one.primary for one in found} <= set(IMAGE) and all(
        one.primary in one.modes for one in found
    )
    assert (after[chosen].primary, after[chosen].decided_by) == ("incorrect_outcome", "Ada")
    assert [one for one in found if one.sample_id != chosen] == [
        after[o.sample_id] for o in found if o is not found[0]
    ]
    assert [row["sample_id"] for row in rows] == list(after)
    assert sum(one.n_scored or 0 for one in figures) == len(found)
    assert verify(here, submission).differences == ()
    items = compute(here)
    with session(here.database) as db:
        rows_of_items = failures.item_statistics(db, "tailor")
        assert failures.suites_with_items(db) == ["tailor"]
        assert failures.item_statistics(db, "tailor", "no_such_task") == []
    answered = sum(one.n for one in items)
    assert [one.question for one in rows_of_items] == [one.question for one in items][:1000]
    assert answered == sum(
        question.kind == "yes_no"
        for sample in suite_named("tailor").samples()
        if sample.id in values_of(here, run_id)
        for question in sample.questions
    )
    assert all(one.text for one in rows_of_items)


def test_a_word_about_nothing_says_what_there_is(ready: Settings) -> None:
    with pytest.raises(NotOnBoard, match="has no weak output"):
        decide(ready, "run-0", "cut_rope.0.predictive.image", "incorrect_outcome", "Ada", "")

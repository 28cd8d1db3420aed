"""Numbers that are computed again in place: what measuring again moves is added; ranks, receipt and
seals follow."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

from sqlmodel import Session, select

from evaluators.suites import suite_named
from flows.audit import receipt_files
from flows.audit.audit import audit
from flows.evaluate.score import compute
from flows.publish.publish import republish
from flows.publish.seal_chain import seal_catalogue
from flows.run.case import EvaluationCase
from infra import tables
from infra.db import put, session
from infra.settings import Settings
from infra.tables.board import FigurePlace
from infra.tables.standing import Noise
from leaderboard.queries import addresses
from tests.boards import stock
from tests.standing.judged import enter


def test_measured_noise_widens_the_intervals_and_everything_agrees_afterwards(
    tmp_path: Path,
) -> None:
    settings = stock(Settings(home=tmp_path))
    with session(settings.database) as db:
        seal_catalogue(db)
        run = enter(db, "one", 0.7)
        before = cells(db, run.id)
        submission = db.get_one(tables.Submission, run.submission_id)
        row = {
            "run_id": run.id,
            "metric": "physical_realism",
            "source": "judge",
            "error": 0.4,
            "outputs": 5,
            "times": 3,
        }
        put(db, Noise, [{**row, "times": 3, "at": tables.now()}])
    case = EvaluationCase(settings, submission, suite_named("tailor"), run)

    found = compute(case)
    with session(settings.database) as db:
        republish(db, case, found.scores, found.cells, found.bounds)

    with session(settings.database) as db:
        after = cells(db, run.id)
        assert audit(db).findings == ()
        receipt_files.write(db, tmp_path / "export")
    assert {at: value for at, (value, _) in after.items()} == {
        at: value for at, (value, _) in before.items()
    }
    wider = {at[0] for at, (_, width) in after.items() if width > before[at][1]}
    assert wider == {"physical_realism"}
    assert (
        receipt_files.check(tmp_path / "export" / "receipts" / f"{run.id}.json").differences == ()
    )


def test_a_run_that_is_published_again_and_again_is_counted_once(tmp_path: Path) -> None:
    settings = stock(Settings(home=tmp_path))
    with session(settings.database) as db:
        seal_catalogue(db)
        run = enter(db, "one", 0.7)
        enter(db, "two", 0.3)
        submission = db.get_one(tables.Submission, run.submission_id)
        addresses.recount(db, "tailor")
        before = counts(db)
    case = EvaluationCase(settings, submission, suite_named("tailor"), run)
    scored = compute(case)

    for _ in range(3):
        with session(settings.database) as db:
            republish(db, case, scored.scores, scored.cells, scored.bounds)

    with session(settings.database) as db:
        assert counts(db) == before
    assert {ours for ours, _ in before.values()} == {0, 2}


def test_an_address_that_a_run_has_no_more_figures_at_is_not_counted_for_it(tmp_path: Path) -> None:
    settings = stock(Settings(home=tmp_path))
    with session(settings.database) as db:
        seal_catalogue(db)
        run = enter(db, "one", 0.7)
        submission = db.get_one(tables.Submission, run.submission_id)
        addresses.recount(db, "tailor")
    case = EvaluationCase(settings, submission, suite_named("tailor"), run)
    scored = compute(case)
    emptied, *whole = scored.cells

    with session(settings.database) as db:
        republish(db, case, scored.scores, [replace(emptied, value=None), *whole])

    with session(settings.database) as db:
        kept = counts(db)
        addresses.recount(db, "tailor")
        assert counts(db) == kept
        assert (emptied.metric, *astuple(emptied.facets)) not in kept


def counts(db: Session) -> dict[tuple[str, ...], tuple[int, int]]:
    """How many entries and papers are counted at each of TailOR's addresses."""
    rows = db.exec(select(FigurePlace).where(FigurePlace.suite == "tailor"))
    return {
        (row.metric, row.scenario, row.task, row.setting, row.modality): (row.ours, row.papers)
        for row in rows
    }


def cells(db, run_id: str) -> dict[tuple[str, ...], tuple[float | None, float]]:  # type: ignore[no-untyped-def]
    """Value and width of each cell."""
    found = db.exec(select(tables.Cell).where(tables.Cell.run_id == run_id)).all()
    return {
        (c.metric, c.scenario, c.task, c.setting, c.modality): (
            c.value,
            (c.high or 0) - (c.low or 0),
        )
        for c in found
    }

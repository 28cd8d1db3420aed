"""The SELECTs about failure modes, what went wrong in the weak outputs of a run and how often
which; and about questions that failed: item statistics, worst first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, and_, col, select

from infra.tables import Judge, Run, Sample, Submission
from infra.tables.findings import FailureRow, ItemStatisticRow
from leaderboard.queries.entries import Figure
from leaderboard.queries.ranking import ALL

PREFIX = "failure."
"""Figures of failure modes have metrics called so: `failure.incorrect_outcome`."""
UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True)
class FailedOutput:
    """One weak output: its worst fault, and every fault that applies."""

    sample_id: str
    scenario: str
    task: str
    setting: str
    modality: str
    primary: str | None
    modes: list[str]
    decided_by: str
    reason: str


def failures(db: Session, run_id: str, sample_id: str | None = None) -> list[FailedOutput]:
    """The weak outputs of a run, in the suite's order; or the one of a sample."""
    columns = (Sample.id, Sample.scenario, Sample.task, Sample.setting, Sample.modality)
    failure_columns = (
        FailureRow.primary,
        FailureRow.modes,
        FailureRow.decided_by,
        FailureRow.reason,
    )
    query = _of_runs(select(*columns, *failure_columns)).where(Run.id == run_id)  # type: ignore[call-overload]
    query = query.where(FailureRow.sample_id == sample_id) if sample_id else query
    rows = db.execute(query.order_by(col(Sample.position)))
    return [FailedOutput(*row) for row in rows]


def figures(db: Session, suite: str) -> list[Figure]:
    """How often each mode is the worst fault, in percent of the weak outputs at one scenario,
    setting and modality."""
    who = (Submission.model, Judge.kind, Submission.trust, Run.id, Run.board)
    where = (Sample.scenario, Sample.setting, Sample.modality)
    query = _of_runs(select(*who, *where, FailureRow.primary)).join(  # type: ignore[call-overload]
        Judge, col(Judge.fingerprint) == col(Run.judge)
    )
    counted = Counter(
        tuple(row)
        for row in db.execute(
            query.where(Run.suite == suite, Run.state == "published", Submission.role == "entry")
        )
    )
    weak = Counter[Any]()
    for (*place, _mode), count in counted.items():
        weak[tuple(place)] += count
    return [
        _figure(place, mode, count, weak[tuple(place)]) for (*place, mode), count in counted.items()
    ]


def _of_runs(query: Any) -> Any:
    """With the run, the submission and the sample of each failure."""
    same_sample = and_(
        col(Sample.id) == col(FailureRow.sample_id), col(Sample.suite) == col(Run.suite)
    )
    return (
        query.select_from(FailureRow)
        .join(Run, col(Run.id) == col(FailureRow.run_id))
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .join(Sample, and_(same_sample, col(Sample.version) == col(Run.suite_version)))
    )


def _figure(place: list[Any], mode: str | None, count: int, weak: int) -> Figure:
    model, kind, trust, run, board, scenario, setting, modality = place
    return Figure(
        model=model,
        evaluator=kind,
        trust=trust,
        metric=f"{PREFIX}{mode or UNNAMED}",
        scenario=scenario,
        task=ALL,
        setting=setting,
        modality=modality,
        value=100 * count / weak,
        low=None,
        high=None,
        spread=None,
        n_scored=count,
        n_expected=weak,
        source="",
        note="",
        run_id=run,
        board=board,
    )


def item_statistics(
    db: Session, suite: str, beginning: str = "", limit: int = 1000
) -> list[ItemStatisticRow]:
    """A suite's questions with their statistics, the worst first; only those whose instance begins
    so, if that is said."""
    query = select(ItemStatisticRow).where(ItemStatisticRow.suite == suite)
    if beginning:
        query = query.where(col(ItemStatisticRow.instance).startswith(beginning, autoescape=True))
    return list(db.exec(query.order_by(col(ItemStatisticRow.position)).limit(limit)))


def suites_with_items(db: Session) -> list[str]:
    """The suites whose questions have statistics."""
    return list(db.exec(select(ItemStatisticRow.suite).distinct()))

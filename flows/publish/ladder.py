"""A team's attempts on a board: each scored one has a number, and a score moves only when it is
surely better."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from sqlalchemy import func
from sqlmodel import Session, col, select

from evaluators.aggregate.summaries import Summary
from evaluators.contracts import ALL, Metric, Suite
from evaluators.statistics.comparison import Difference
from evaluators.statistics.growth import GRID
from evaluators.statistics.ladder import LadderStep, climb
from infra import tables
from infra.db import add_new
from infra.tables import standing

INDEX = "index"


@dataclass(frozen=True, slots=True)
class RankedAttempt:
    """Whether a run is ranked, and which earlier one of the same model gives way to it."""

    ranked: bool
    leaving: tuple[str, ...]
    text: str


def attempt(
    db: Session, suite: Suite, submission: tables.Submission, run: tables.Run, whole: Summary
) -> RankedAttempt:
    """Number the attempt, hold it against the team's best of this model so far, and keep what came
    out."""
    number = 1 + _count(db, run.board, submission.team)
    metric, best = ladder_metric(suite), _standing_run(db, run.board, submission)
    if not run.eligible:
        rung, text = LadderStep(False, None, None), f"Attempt {number}: {run.why_not}."
    elif best is None:
        rung, text = (
            LadderStep(True, None, None),
            f"Attempt {number}: the first of this model on this board.",
        )
    else:
        gap = _difference(db, metric, whole, best)
        rung = climb(gap, higher=metric.direction == "higher", attempt=max(number, 2))
        text = _sentence(number, metric, rung, best)
    stands = run.id if rung.moves or best is None else best
    row = {
        "run_id": run.id,
        "board": run.board,
        "team": submission.team,
        "model": submission.model,
        "attempt": number,
        "metric": metric.name,
        "moves": rung.moves,
        "gain": rung.gain,
        "step": rung.step,
        "stands": stands,
        "text": text,
        "at": tables.now(),
    }
    add_new(db, standing.AttemptRow, [row])
    return RankedAttempt(rung.moves, (best,) if rung.moves and best else (), text)


def ladder_metric(suite: Suite) -> Metric:
    """The metric that a climb is measured by: the suite's index if it has one, else its first."""
    return next((metric for metric in suite.metrics if metric.name == INDEX), suite.metrics[0])


def _sentence(number: int, metric: Metric, rung: LadderStep, best: str) -> str:
    if rung.gain is None or rung.step is None:
        return (
            f"Attempt {number}: not comparable with {best}, which answered other samples; that "
            "one stands."
        )
    comparison = f"{metric.title} {rung.gain:+.3g} against {best}, {rung.step:.3g} needed"
    if rung.moves:
        return f"Attempt {number}: better ({comparison}); it takes the place of {best}."
    return f"Attempt {number}: no significant change ({comparison}); {best} stands."


def _count(db: Session, board: str, team: str) -> int:
    query = select(func.count()).where(
        standing.AttemptRow.board == board, standing.AttemptRow.team == team
    )
    return int(db.execute(query.select_from(standing.AttemptRow)).scalar_one())


def _standing_run(db: Session, board: str, submission: tables.Submission) -> str | None:
    """The run whose score is the team's public one for this model; a withdrawn one stands for
    nothing."""
    table = standing.AttemptRow
    query = (
        select(table.run_id)
        .join(tables.Run, col(tables.Run.id) == col(table.run_id))
        .join(tables.Submission, col(tables.Submission.id) == col(tables.Run.submission_id))
        .where(table.board == board, table.team == submission.team, table.model == submission.model)
        .where(col(table.moves).is_(True), tables.Submission.state == "published")
    )
    return db.exec(query.order_by(col(table.attempt).desc()).limit(1)).first()


def _difference(db: Session, metric: Metric, whole: Summary, best: str) -> Difference:
    """The paired difference over all samples, from the two summaries; no value if the samples are
    others."""
    at = next(number for number, slot in enumerate(whole.slots) if slot.metric == metric.name)
    row, mine = db.get(standing.Summary, (best, ALL)), whole.columns[at]
    if row is None or mine is None or row.samples_sha256 != whole.samples_sha256:
        return Difference(None, None, 0, 0)
    start = sum(slot.clusters for slot in whole.slots[:at])
    scale = abs(metric.best - metric.worst) / GRID
    theirs = np.frombuffer(row.influence, "<i4")[start : start + whole.slots[at].clusters] * scale
    clusters = min(mine.clusters, int(np.frombuffer(row.clusters, "<i4")[at]))
    spread = float(np.sqrt(((mine.influence - theirs) ** 2).sum()))
    error = spread * sqrt(clusters / (clusters - 1)) if clusters >= 2 else None
    value = mine.value - float(np.frombuffer(row.figures, "<f8")[at])
    return Difference(value, error, clusters, whole.n_samples)

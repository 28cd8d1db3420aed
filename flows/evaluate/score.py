"""The scoring step: verdicts become scores and cells, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col, select

from evaluators.aggregate.cells import Bounds, bounds, share_of_our_failures
from evaluators.aggregate.columns import Columns, scored_metrics, tabulated
from evaluators.contracts import Cell, Outcome, Score, Suite
from flows.evaluate.outputs import is_unconfined
from flows.run.answers import AnsweredSample, load_answers
from flows.run.board_keys import ScoringVersion
from flows.run.case import EvaluationCase, Stopped
from flows.run.questions import output_of
from flows.run.score_rows import noise_of, put_mark, store_results
from infra import tables
from infra.db import session
from submissions.intake.intake import PRIVATE

MOST_OUR_FAILURES = 0.01
MOST_BLOCKED = 0.2


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run's numbers, before they are rows."""

    scores: tuple[Score, ...]
    cells: tuple[Cell, ...]
    bounds: tuple[Bounds, ...]
    columns: Columns | None = None


def score_run(
    case: EvaluationCase,
    answered: Sequence[AnsweredSample],
    noise: Mapping[str, float],
    version: ScoringVersion,
) -> Columns | None:
    """Compute and store an open run's scores and cells; return the columns they were made from, if
    the suite has any."""
    numbers = compute_from(case, answered, noise)
    share = share_of_our_failures(numbers.scores)
    if share > MOST_OUR_FAILURES:
        raise Stopped(
            "E_JUDGE",
            "ours",
            f"The judge gave no usable answer for {share:.1%} of the scores. Evaluate it again.",
        )
    with session(case.settings.database) as db:
        store_results(db, case.run.id, numbers.scores, numbers.cells, numbers.bounds)
        put_mark(db, case, version)
        _set_run(
            db,
            case,
            state="scored",
            n_scored=n_scored(case, numbers.scores),
            n_expected=len(case.samples),
            why_not=_with_warnings(db, case),
        )
    return numbers.columns


def n_scored(case: EvaluationCase, scores: Sequence[Score]) -> int:
    """How many samples have a value of the first of the suite's metrics that samples are scored
    by."""
    scored = {score.metric for score in scores}
    first = next((metric.name for metric in case.suite.metrics if metric.name in scored), "")
    return sum(score.metric == first and score.outcome is Outcome.SCORED for score in scores)


def compute(case: EvaluationCase) -> RunScores:
    """A run's scores and cells from its stored outputs and verdicts: pure but for the reading."""
    with session(case.settings.database) as db:
        answered = load_answers(db, case.suite, case.run, case.samples, case.requests)
        noise = noise_of(db, case.run.id)
    return compute_from(case, answered, noise)


def compute_from(
    case: EvaluationCase, answered: Sequence[AnsweredSample], noise: Mapping[str, float]
) -> RunScores:
    """A run's scores and cells from its samples' answers and the measured noise of its metrics."""
    scores = scores_of(case.suite, answered)
    within = (
        ()
        if case.suite.tabulate
        else bounds(scored_metrics(case.suite, scores), case.samples, scores)
    )
    table = tabulated(case.suite, case.samples, scores, noise)
    return RunScores(scores, table.cells, within, table.columns)


def scores_of(suite: Suite, answered: Sequence[AnsweredSample]) -> tuple[Score, ...]:
    """Every sample's scores from its stored output and answers."""
    assert suite.scoring is not None
    score_sample = suite.scoring.score
    return tuple(
        score
        for entry in answered
        for score in score_sample(entry.sample, output_of(entry.sample, entry.row), entry.answers)
    )


def _blocked(db: Session, case: EvaluationCase) -> int:
    """How many of the samples it was first asked for were blocked, replaced or not."""
    table = tables.Output
    query = select(table.sample_id).where(
        table.submission_id == case.submission.id, table.outcome == Outcome.BLOCKED
    )
    return sum(not name.startswith(PRIVATE) for name in db.exec(query))


def _with_warnings(db: Session, case: EvaluationCase) -> str:
    """Why the run is not ranked, and what a reader should know of how its outputs came about."""
    blocked = _blocked(db, case)
    share = blocked / max(1, len(case.samples))
    texts = [case.run.why_not]
    if share > MOST_BLOCKED:
        texts.append(f"warning: a safety filter blocked {blocked} of its prompts ({share:.0%})")
    elif blocked and case.submission.kind == "outputs":
        texts.append(f"warning: its team declares {blocked} of its prompts to have been blocked")
    if is_unconfined(db, case.submission.id):
        texts.append("warning: its model ran without network and files fenced")
    return "; ".join(filter(None, texts))


def _set_run(db: Session, case: EvaluationCase, **values: Any) -> None:
    db.connection().execute(
        update(tables.Run).where(col(tables.Run.id) == case.run.id).values(**values)
    )

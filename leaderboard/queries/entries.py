"""The SELECTs about submissions: their rows, progress, events, and the cells of their runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import func
from sqlalchemy import select as bare_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from infra.db import columns_of
from infra.tables import Cell, Event, Judge, Metric, Run, Shard, Submission, Suite, Verdict
from infra.tables.board import Passage
from leaderboard.queries.addresses import places
from leaderboard.queries.ranking import FACETS, PAPER, BoardAddress, evaluators


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """A submission's columns, without its manifest."""

    id: str
    suite: str
    model: str
    organisation: str
    team: str
    trust: str
    kind: str
    subset: str
    state: str
    fault: str
    code: str
    reason: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One line of a timeline."""

    at: datetime
    subject: str
    kind: str
    text: str


@dataclass(slots=True)
class Figure:
    """One cell with whose it is. Not frozen, for speed, like an entry of a ranking."""

    model: str
    evaluator: str
    trust: str
    metric: str
    scenario: str
    task: str
    setting: str
    modality: str
    value: float | None
    low: float | None
    high: float | None
    spread: float | None
    n_scored: int | None
    n_expected: int | None
    source: str
    note: str
    run_id: str
    board: str


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An entry that came on the board, and where."""

    at: datetime
    submission_id: str
    model: str
    title: str


SUBMISSION_COLUMNS = tuple(SubmissionRow.__dataclass_fields__)


def recent_submissions(db: Session, limit: int = 500) -> list[SubmissionRow]:
    """What people handed in, newest first."""
    query = (
        select(*_columns())
        .where(Submission.trust != "C")
        .order_by(col(Submission.created_at).desc(), Submission.id)
    )
    return [SubmissionRow(*row) for row in db.execute(query.limit(limit))]


def submission_row(db: Session, submission_id: str) -> SubmissionRow:
    """One submission in one row."""
    return SubmissionRow(
        *db.execute(select(*_columns()).where(Submission.id == submission_id)).one()
    )


def submission(db: Session, submission_id: str) -> Submission | None:
    """One submission whole, with its manifest."""
    return db.get(Submission, submission_id)


def siblings(db: Session, model: str, organisation: str) -> list[SubmissionRow]:
    """All entries of the same model, oldest first."""
    query = select(*_columns()).where(
        Submission.model == model, Submission.organisation == organisation
    )
    return [SubmissionRow(*row) for row in db.execute(query.order_by(col(Submission.created_at)))]


def _columns() -> list[Any]:
    return [getattr(Submission, name) for name in SUBMISSION_COLUMNS]


def timeline(db: Session, subject: str) -> list[TimelineEvent]:
    """What happened to one submission, oldest first; events about anything else are for operators
    and not shown."""
    query = (
        select(Event.at, Event.subject, Event.kind, Event.text)
        .join(Submission, col(Submission.id) == col(Event.subject))
        .where(Event.subject == subject)
        .order_by(col(Event.id))
    )
    return [TimelineEvent(*row) for row in db.execute(query)]


def recent_events(db: Session, limit: int = 20, kind: str | None = None) -> list[TimelineEvent]:
    """What happened to submissions last, newest first; events about anything else are for
    operators or for one team."""
    query = (
        select(Event.at, Event.subject, Event.kind, Event.text)
        .join(Submission, col(Submission.id) == col(Event.subject))
        .order_by(col(Event.id).desc())
        .limit(limit)
    )
    query = query.where(Event.kind == kind) if kind else query
    return [TimelineEvent(*row) for row in db.execute(query)]


def newcomers(db: Session, limit: int) -> list[Newcomer]:
    """What came on the board last, newest first; figures from papers and what only measures do
    not count."""
    query = (
        select(Run.published_at, Submission.id, Submission.model, Suite.title)
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .join(Suite, col(Suite.name) == col(Run.suite))
        .where(Run.state == "published", Submission.trust != "C", Submission.role == "entry")
        .order_by(col(Run.published_at).desc(), col(Run.id))
    )
    newest_by_submission = {
        row[1]: Newcomer(*row) for row in reversed(db.execute(query.limit(4 * limit)).all())
    }
    return sorted(newest_by_submission.values(), key=lambda newcomer: newcomer.at, reverse=True)[
        :limit
    ]


def progress(db: Session, submission_id: str) -> dict[str, int]:
    """How many samples each stage has done for a submission and its runs."""
    owners = [submission_id, *db.exec(select(Run.id).where(Run.submission_id == submission_id))]
    query = (
        select(Shard.stage, func.sum(Shard.items))
        .where(col(Shard.owner).in_(owners))
        .group_by(Shard.stage)
    )
    return {stage: int(count) for stage, count in db.execute(query)}


def states(db: Session) -> dict[str, int]:
    """How many submissions stand where."""
    query = (
        select(Submission.state, func.count())
        .where(Submission.trust != "C")
        .group_by(Submission.state)
    )
    return {state: int(count) for state, count in db.execute(query)}


def ahead_of(db: Session, submission_id: str) -> int | None:
    """How many wait before this one; None if it does not wait."""
    own = db.get(Submission, submission_id)
    if own is None or own.state != "received":
        return None
    query = select(func.count()).where(
        Submission.state == "received", Submission.created_at < own.created_at
    )
    return int(db.execute(query).scalar_one())


def usual_seconds(db: Session, suite: str) -> float | None:
    """How long the last twenty submissions of a suite took from their first step to the board, in
    the middle."""
    begun, ended = aliased(Event), aliased(Event)
    same: Any = ended.subject == begun.subject
    query = (
        select(func.min(begun.at), func.max(ended.at))
        .join(Submission, col(Submission.id) == begun.subject)
        .join(ended, same)
        .where(
            Submission.suite == suite, Submission.state == "published", ended.kind == "published"
        )
        .where(col(begun.kind).in_(("generating", "validating", "judging")))
        .group_by(begun.subject)
        .order_by(func.max(ended.id).desc())
    )
    took = sorted((end - start).total_seconds() for start, end in db.execute(query.limit(20)))
    return took[len(took) // 2] if took else None


def last_published(db: Session) -> datetime | None:
    """When something last came on the board; figures from papers do not count."""
    query = (
        select(func.max(Run.published_at))
        .join(Submission)
        .where(Submission.trust != "C", Run.state == "published")
    )
    newest: datetime | None = db.execute(query).scalar_one()
    return newest


def published_figures(db: Session, suite: str) -> list[Figure]:
    """Every figure the papers print for a suite."""
    return _figures(db, [Run.suite == suite, Submission.trust == "C"])


def figures_of(db: Session, run_ids: tuple[str, ...]) -> list[Figure]:
    """Every cell of some runs."""
    return _figures(db, [col(Run.id).in_(run_ids)])


def chart_figures(
    db: Session, suite: str, fixed: tuple[tuple[str, str], ...], run_ids: tuple[str, ...]
) -> list[Figure]:
    """What a suite's charts draw: the papers and some runs of ours, with some facets fixed.

    Hundreds of entries make no chart, and their cells would be millions.
    """
    chosen_runs = [
        Run.suite == suite,
        Run.state == "published",
        (col(Submission.trust) == PAPER) | col(Run.id).in_(run_ids),
    ]
    return _figures(db, chosen_runs, *(getattr(Cell, facet) == value for facet, value in fixed))


def whole_figures(db: Session, run_ids: tuple[str, ...]) -> list[Figure]:
    """The first metric of each run over all its samples."""
    suites = dict(
        db.execute(select(Run.id, Run.suite).where(col(Run.id).in_(run_ids))).tuples().all()
    )
    first = {metric.suite: metric.name for metric in reversed(all_metrics(db))}
    everywhere = [getattr(Cell, facet) == "*" for facet in FACETS]
    figures = _figures(
        db, [col(Run.id).in_(run_ids)], col(Cell.metric).in_(set(first.values())), *everywhere
    )
    return [figure for figure in figures if figure.metric == first[suites[figure.run_id]]]


def figures_along(
    db: Session, suite: str, metric: str, facet: str, at: BoardAddress
) -> list[Figure]:
    """One metric along one facet, all else as at the address, for everyone who has it."""
    return figures_over(db, suite, metric, (facet,), at)


def figures_over(
    db: Session, suite: str, metric: str, facets: tuple[str, ...], at: BoardAddress
) -> list[Figure]:
    """One metric over some facets, all else as at the address, for everyone who has it."""
    known_places = places(db, suite, metric)
    open_ = [
        col(getattr(Cell, facet)).in_(sorted({getattr(place.at, facet) for place in known_places}))
        for facet in facets
    ]
    fixed = [
        getattr(Cell, fixed_facet) == getattr(at, fixed_facet)
        for fixed_facet in FACETS
        if fixed_facet not in facets
    ]
    return _figures(
        db, [Run.suite == suite, Run.state == "published"], Cell.metric == metric, *fixed, *open_
    )


def every_figure(db: Session, suite: str, at_once: int = 4) -> Iterator[list[Figure]]:
    """Every cell of a suite's board, a few runs at a time and in one order, the papers' last: they
    may be millions."""
    for paper in (False, True):
        which = [
            Run.suite == suite,
            Run.state == "published",
            (col(Submission.trust) == PAPER) == paper,
        ]
        runs = list(_runs(db, which).items())
        for first in range(0, len(runs), at_once):
            figures_by_run = _cells(db, dict(runs[first : first + at_once]))
            yield [
                figure
                for figures in figures_by_run.values()
                for figure in sorted(figures, key=IN_ORDER)
            ]


CELL = tuple(
    name for name in Figure.__dataclass_fields__ if name in Cell.model_fields and name != "run_id"
)
IN_ORDER = attrgetter("metric", *FACETS)
Whose = tuple[tuple[str, str, str], tuple[str, str]]
"""The values of a run that go before a cell's own columns in a Figure, and those that go after
them."""


def _figures(db: Session, which: list[Any], *cells: Any) -> list[Figure]:
    """Runs first, then their cells by key: a join would leave it to the database, and SQLite reads
    every cell."""
    return [
        figure for figures in _cells(db, _runs(db, which), *cells).values() for figure in figures
    ]


def _runs(db: Session, which: list[Any]) -> dict[str, Whose]:
    facts: Any = (Run.id, Submission.model, Run.judge, Submission.trust, Run.board)
    query = (
        select(*facts)
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .where(*which)
        .order_by(col(Submission.created_at), col(Submission.id), col(Run.id))
    )
    by = {key: judge.by for key, judge in evaluators(db).items()}
    return {
        run: ((model, by[judge], trust), (run, board))
        for run, model, judge, trust, board in db.execute(query)
    }


def _cells(db: Session, runs: dict[str, Whose], *cells: Any) -> dict[str, list[Figure]]:
    columns = [columns_of(Cell)[name] for name in ("run_id", *CELL)]
    figures_by_run: dict[str, list[Figure]] = {run: [] for run in runs}
    for run, *cell_values in (
        db.connection()
        .execute(bare_select(*columns).where(col(Cell.run_id).in_(runs), *cells))
        .all()
    ):
        who, where = runs[run]
        values: tuple[Any, ...] = (*who, *cell_values, *where)
        figures_by_run[run].append(Figure(*values))
    return figures_by_run


def judges(db: Session) -> list[Judge]:
    """All judges, those that work here before those of papers."""
    return sorted(
        db.exec(select(Judge)), key=lambda judge: (judge.kind == "paper", judge.kind, judge.name)
    )


def verdict_outcomes(db: Session, judge: str) -> dict[str, int]:
    """How often a judge answered, and how often it could not."""
    query = (
        select(Verdict.outcome, func.count())
        .where(Verdict.judge == judge)
        .group_by(Verdict.outcome)
    )
    return {outcome: int(count) for outcome, count in db.execute(query)}


def all_metrics(db: Session) -> list[Metric]:
    """Every metric of every suite, in the suites' own order."""
    return list(db.exec(select(Metric).order_by(Metric.suite, col(Metric.position))))


def passages(db: Session) -> list[Passage]:
    """Prompts and the changelog, word for word."""
    return list(db.exec(select(Passage).order_by(Passage.kind, Passage.suite, Passage.name)))

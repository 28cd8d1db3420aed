"""Publication: a scored run goes onto its board, its rank and everybody's rank interval with it, in
one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from evaluators.aggregate.cells import Bounds
from evaluators.aggregate.columns import Columns
from evaluators.aggregate.summaries import Summary, summaries
from evaluators.contracts import Cell, Score, Suite
from evaluators.suites import suite_named
from flows.publish import board_changes, private_gap, receipts
from flows.publish.exam_sitting import ensure_sitting
from flows.publish.freeze import why_frozen
from flows.publish.ladder import attempt
from flows.publish.private_gap import PrivateScores
from flows.publish.ranking import enter, leave, renew, store_summary
from flows.publish.seal_chain import PUBLICATION, seal_board, seal_events, seal_run
from flows.publish.sight import renew_sight, renew_split
from flows.run.answers import AnsweredSample, load_answers
from flows.run.board_keys import ScoringVersion, scoring_version
from flows.run.case import EvaluationCase, NoSuchSubmission, Stopped, Withdrawn
from flows.run.score_rows import noise_of, store_results
from flows.run.verdict_rows import OUTCOMES
from infra import tables
from infra.db import session, transaction_lock
from infra.settings import Settings
from infra.tables.standing import Roster
from leaderboard.cache import on_publish
from submissions.format.errors import shown
from submissions.teams.lifecycle import State, advance, state_of


@dataclass(frozen=True, slots=True)
class PublishedNumbers:
    """What goes onto the board: the stored scores, the answers they were computed from, and the
    version of code and samples.

    `columns` are those of the scores, where they were just computed.
    """

    answered: Sequence[AnsweredSample]
    stored: Sequence[Any]
    noise: Mapping[str, float]
    private: PrivateScores
    version: ScoringVersion
    columns: Columns | None = None


def publish(case: EvaluationCase, numbers: PublishedNumbers) -> None:
    """Put the run on its board; a run that is there already stays as it is."""
    with session(case.settings.database) as db:
        run = db.get_one(tables.Run, case.run.id)
        if run.state == "published":
            return
        if frozen := why_frozen(db, run):
            raise Stopped("E_FROZEN", "ours", frozen)
    scores = [
        Score(sample_id, metric, OUTCOMES[outcome], value, *detail)
        for sample_id, metric, outcome, value, *detail in numbers.stored
    ]
    private = numbers.private
    ensure_sitting(case.settings, case.suite, case.run.judge, case.place)
    summarised = summaries(case.suite, case.samples, scores, numbers.columns)
    with session(case.settings.database) as db:
        transaction_lock(db, PUBLICATION)
        run = db.get_one(tables.Run, case.run.id, populate_existing=True)
        if run.state != "published":
            _put_on_board(db, case, run, summarised, numbers)
            if private.samples:
                private_gap.store(
                    db, case.suite, run, (case.samples, scores), (private.samples, private.scores)
                )


def _put_on_board(
    db: Session,
    case: EvaluationCase,
    run: tables.Run,
    summarised: Sequence[Summary],
    numbers: PublishedNumbers,
) -> None:
    text = f"On the board of {case.suite.title}, {run.n_scored} of {run.n_expected} samples scored."
    if not advance(db, case.submission.id, State.PUBLISHED, text):
        _raise_if_closed(state_of(db, case.submission.id))
    with on_publish.kept_up(db, col(tables.Run.id) == run.id):
        _set_run(db, run, state="published", published_at=tables.now())
    rank(db, case.suite, case.submission, run, summarised)
    renew_sight(db, case.suite, run.board, case.settings.exam)
    renew_split(db, run)
    board_changes.note(db, case.suite, db.get_one(tables.Run, run.id, populate_existing=True))
    _keep_receipt(db, case, run, numbers.answered, numbers.noise, numbers.version)
    seal_run(db, db.get_one(tables.Run, run.id, populate_existing=True))


def _keep_receipt(
    db: Session,
    case: EvaluationCase,
    run: tables.Run,
    answered: Sequence[AnsweredSample],
    noise: Mapping[str, float],
    version: ScoringVersion,
) -> None:
    drawn = set(case.replaced.values())
    replaced = {blocked: case.stand_in(blocked) for blocked in case.replaced.keys() - drawn}
    receipts.keep(db, case.suite, case.submission, run, answered, noise, version, replaced)


def _raise_if_closed(state: State) -> None:
    """A submission that is published already goes on; one that was closed in between does not."""
    if state is State.WITHDRAWN:
        raise Withdrawn
    if state is not State.PUBLISHED:
        raise Stopped(
            "E_CLOSED",
            "ours",
            "It was closed while it was in work, so it does not go onto the board.",
        )


def rank(
    db: Session,
    suite: Suite,
    submission: tables.Submission,
    run: tables.Run,
    summarised: Sequence[Summary],
) -> None:
    """Enter a run into the rosters of its board as its team's next attempt; one that does not move
    is only listed."""
    result = attempt(db, suite, submission, run, summarised[0])
    leaving = (*result.leaving, *withdrawn(db, run.board))
    for summary in summarised:
        store_summary(db, suite, run, summary)
        if result.ranked:
            enter(db, suite, run, summary, leaving)


def republish(
    db: Session,
    case: EvaluationCase,
    scores: Sequence[Score],
    cells: Sequence[Cell],
    bounds: Sequence[Bounds] = (),
) -> None:
    """Replace a published run's numbers by new ones, and rank, receipt and seal it anew."""
    transaction_lock(db, PUBLICATION)
    with on_publish.kept_up(db, col(tables.Run.id) == case.run.id):
        for table in (tables.Score, tables.Cell):
            db.connection().execute(delete(table).where(col(table.run_id) == case.run.id))
        store_results(db, case.run.id, scores, cells, bounds)
    rank_again(db, case, db.get_one(tables.Run, case.run.id, populate_existing=True), scores)


def rank_again(db: Session, case: EvaluationCase, run: tables.Run, scores: Sequence[Score]) -> None:
    """A published run's numbers were computed anew: it stands where they put it, as the attempt
    that it was."""
    for summary in summaries(case.suite, case.samples, scores):
        store_summary(db, case.suite, run, summary)
    renew(db, case.suite, run)
    renew_sight(db, case.suite, run.board, case.settings.exam)
    renew_split(db, run)
    answered = load_answers(db, case.suite, run, case.samples, case.requests)
    _keep_receipt(db, case, run, answered, noise_of(db, run.id), scoring_version(case.suite))
    seal_run(db, run)


def settle(settings: Settings) -> int:
    """Rank every board again that somebody was withdrawn from; return how many were withdrawn."""
    with session(settings.database) as db:
        transaction_lock(db, PUBLICATION)
        boards: dict[str, str] = {
            board: suite for board, suite in db.execute(select(Roster.board, Roster.suite))
        }
        leaving = [(suite, run) for board, suite in boards.items() for run in withdrawn(db, board)]
        for suite, run_id in leaving:
            leave(db, suite_named(suite), db.get_one(tables.Run, run_id))
        for suite, board in {(s, db.get_one(tables.Run, run_id).board) for s, run_id in leaving}:
            renew_sight(db, suite_named(suite), board, settings.exam)
            seal_board(db, board)
        seal_events(db)
        return len(leaving)


def withdraw(settings: Settings, submission_id: str, why: str) -> None:
    """Mark a submission as withdrawn and rank the others without it; nothing is deleted."""
    with session(settings.database) as db:
        if db.get(tables.Submission, submission_id) is None:
            raise NoSuchSubmission(
                f"There is no submission {shown(submission_id)}. `armillary status` lists them all."
            )
        if not advance(db, submission_id, State.WITHDRAWN, why, actor="operator"):
            raise Stopped(
                "E_CLOSED",
                "submitter",
                f"{submission_id} is {state_of(db, submission_id)} already.",
            )
    settle(settings)


def withdrawn(db: Session, board: str) -> tuple[str, ...]:
    """Runs in the board's rosters whose submission is published no more."""
    ranked = {
        run for runs in db.exec(select(Roster.runs).where(Roster.board == board)) for run in runs
    }
    query = select(tables.Run.id).join(tables.Submission).where(tables.Run.board == board)
    unpublished = set(db.exec(query.where(tables.Submission.state != "published")))
    return tuple(sorted(ranked & unpublished))


def stored_scores(case: EvaluationCase) -> Sequence[Any]:
    """A run's scores as they lie there; what was kept with each is read only where a suite's own
    table may need it."""
    table = tables.Score
    columns: tuple[Any, ...] = (table.sample_id, table.metric, table.outcome, table.value)
    chosen: Any = (*columns, table.detail) if case.suite.tabulate else columns
    with session(case.settings.database) as db:
        return db.execute(select(*chosen).where(table.run_id == case.run.id)).all()


def _set_run(db: Session, run: tables.Run, **values: Any) -> None:
    db.connection().execute(update(tables.Run).where(col(tables.Run.id) == run.id).values(**values))

"""What the API says about how far to trust a place: comparisons, attempts, changed ranks, private
samples, repeats."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from sqlmodel import Session, col, select

from infra.tables import Run, Submission
from infra.tables.standing import AttemptRow, BoardSight, Hidden, Noise, RankChange
from leaderboard.api.routes import Ask, At, Listed, Part, paged
from leaderboard.queries import comparison, samples, trust
from leaderboard.queries.comparison import EntryComparison
from leaderboard.queries.ranking import NotOnBoard

router = APIRouter()


@router.get("/compare")
def compare(
    ask: Ask, first: str, second: str, at: At, metric: str | None = None
) -> EntryComparison:
    """Two runs of one board: difference, interval, p, wins, and how many tasks would tell them
    apart."""
    return ask(comparison.compare, first, second, metric, at)


@router.get("/suites/{suite}/attempts", response_model=Listed)
def attempts(ask: Ask, suite: str, page: Part, team: str | None = None) -> dict[str, Any]:
    """Every scored run as its team's attempt, oldest first; who was withdrawn stays, with the
    reason."""
    return paged(ask(_attempts, suite, team), page)


@router.get("/suites/{suite}/changes", response_model=Listed)
def changes(ask: Ask, suite: str, page: Part, board: str | None = None) -> dict[str, Any]:
    """Places on the board of a new judge or scorer against the board before, with reasons; none
    where one of the two boards has no ranks."""
    return paged(ask(_changes, suite, board), page)


@router.get("/runs/{run}/private")
def private(ask: Ask, run: str) -> list[Hidden]:
    """Aggregates on private samples, and how much better the run is in public; marked past two
    standard errors."""
    return ask(_of_known, Hidden, run)


@router.get("/runs/{run}/noise")
def noise(ask: Ask, run: str) -> list[Noise]:
    """How far asking the judge again, or other raters, would move each metric: part of its
    interval."""
    return ask(_of_known, Noise, run)


def _attempts(db: Session, suite: str, team: str | None) -> list[dict[str, Any]]:
    query = select(AttemptRow, Submission.id, Submission.state, Submission.reason)
    query = query.join(Run, col(Run.id) == col(AttemptRow.run_id))
    query = query.join(Submission, col(Submission.id) == col(Run.submission_id)).where(
        Submission.suite == suite
    )
    query = query.where(AttemptRow.team == team) if team else query
    return [
        {**row.model_dump(), "submission_id": name, "state": state, "reason": reason}
        for row, name, state, reason in db.exec(
            query.order_by(AttemptRow.board, AttemptRow.team, col(AttemptRow.attempt))
        )
    ]


def _changes(db: Session, suite: str, board: str | None) -> list[RankChange]:
    query = select(RankChange).where(RankChange.suite == suite)
    query = query.where(RankChange.board == board) if board else query
    withheld = select(BoardSight.board).where(col(BoardSight.ranked).is_(False))
    for column in (RankChange.board, RankChange.board_before):
        query = query.where(col(column).not_in(withheld))
    return list(db.exec(query.order_by(RankChange.board, RankChange.metric, col(RankChange.rank))))


def _of_known(db: Session, table: Any, run: str) -> list[Any]:
    if samples.run_facts(db, run) is None:
        raise NotOnBoard(f"There is no published run {run!r}.")
    return trust.of_run(db, table, run)

"""What another judge or another scorer changes: places on the new board against the one before,
with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, select

from evaluators.contracts import ALL, Metric, Suite
from flows.publish.ladder import ladder_metric
from infra import tables
from infra.db import put
from infra.tables.standing import RankChange, Roster, Standing


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a run stands on its board over everything; None is: not ranked, or without a value."""

    rank: int | None
    value: float | None


def note(db: Session, suite: Suite, run: tables.Run) -> None:
    """Hold a run that comes onto a board against the one its submission had on another board
    before."""
    before = previous(db, run)
    if before:
        put(db, RankChange, list(_changes(db, suite, before.board, run.board, run.submission_id)))


def settle(db: Session, suite: Suite, before: str, after: str) -> list[RankChange]:
    """Hold two boards against each other once all entries are there; what `note` saw on the way is
    out of date."""
    put(db, RankChange, list(_changes(db, suite, before, after)))
    query = select(RankChange).where(RankChange.board == after, RankChange.board_before == before)
    rows = db.exec(query.execution_options(populate_existing=True)).all()
    return sorted(rows, key=lambda row: (row.metric, row.rank is None, row.rank, row.submission_id))


def previous(db: Session, run: tables.Run) -> tables.Run | None:
    """The submission's run that was published last on another board of the same samples; people's
    studies aside."""
    table = tables.Run
    query = (
        select(table)
        .join(tables.Judge)
        .where(tables.Judge.kind != "human", table.board != run.board)
    )
    query = query.where(table.submission_id == run.submission_id)
    query = query.where(table.state == "published", table.subset == run.subset)
    return db.exec(query.order_by(col(table.published_at).desc(), table.id).limit(1)).first()


def _changes(
    db: Session, suite: Suite, before: str, after: str, only: str = ""
) -> Iterator[dict[str, Any]]:
    old, new = _runs(db, before, only), _runs(db, after, only)
    metrics = [
        metric for metric in suite.metrics if metric.headline or metric == ladder_metric(suite)
    ]
    was, is_ = _spots(db, before, metrics, old), _spots(db, after, metrics, new)
    for submission in sorted(old.keys() & new.keys()):
        before_run, after_run = old[submission], new[submission]
        reason = why(db, before_run, after_run)
        for metric in metrics:
            first, then = was[before_run.id, metric.name], is_[after_run.id, metric.name]
            yield {
                "board": after,
                "board_before": before,
                "submission_id": submission,
                "metric": metric.name,
                "modality": ALL,
                "suite": suite.name,
                "run_id": after_run.id,
                "run_before": before_run.id,
                "rank_before": first.rank,
                "rank": then.rank,
                "value_before": first.value,
                "value": then.value,
                "reason": reason,
                "at": tables.now(),
            }


def _runs(db: Session, board: str, only: str) -> dict[str, tables.Run]:
    query = select(tables.Run).where(tables.Run.board == board, tables.Run.state == "published")
    runs = db.exec(query.where(tables.Run.submission_id == only) if only else query)
    return {run.submission_id: run for run in runs}


def why(db: Session, before: tables.Run, after: tables.Run) -> str:
    """What differs between the rules of two runs, in words."""
    reasons = []
    if before.judge != after.judge:
        names = [db.get_one(tables.Judge, run.judge) for run in (before, after)]
        judges = [f"{judge.name} ({judge.fingerprint[:6]})" for judge in names]
        reasons.append(f"another judge: {judges[0]} before, {judges[1]} now")
    for name, word in (("scorer_version", "scorer"), ("suite_version", "suite version")):
        if getattr(before, name) != getattr(after, name):
            reasons.append(f"{word} {getattr(before, name)} before, {getattr(after, name)} now")
    return "; ".join(reasons) or "the suite's items changed"


def _spots(
    db: Session, board: str, metrics: Sequence[Metric], runs: Mapping[str, tables.Run]
) -> dict[tuple[str, str], Spot]:
    """Where these runs stand for each metric over everything."""
    names, ids = [metric.name for metric in metrics], [run.id for run in runs.values()]
    rank: dict[tuple[str, str], int | None] = {}
    rosters = {roster.samples_sha256: roster.runs for roster in db.exec(_over_all(Roster, board))}
    for row in db.exec(
        _over_all(Standing, board).where(col(Standing.metric).in_(names), *_whole(Standing))
    ):
        rank |= {
            (run, row.metric): place
            for run, place in zip(rosters[row.samples_sha256], row.rank, strict=True)
        }
    cell = tables.Cell
    query = select(cell.run_id, cell.metric, cell.value).where(
        col(cell.metric).in_(names), *_whole(cell)
    )
    value = {
        (run, metric): number
        for start in range(0, len(ids), 500)
        for run, metric, number in db.execute(
            query.where(cell.modality == ALL, col(cell.run_id).in_(ids[start : start + 500]))
        )
    }
    return {
        (run, name): Spot(rank.get((run, name)), value.get((run, name)))
        for run in ids
        for name in names
    }


def _over_all(table: Any, board: str) -> Any:
    return select(table).where(table.board == board, table.modality == ALL)


def _whole(table: Any) -> tuple[Any, ...]:
    return tuple(getattr(table, facet) == ALL for facet in ("scenario", "task", "setting"))


def scores_line(db: Session, suite: Suite, before: str, after: str) -> str:
    """The changelog's line about two boards: what changed, how far values moved, and whose rank."""
    metric = ladder_metric(suite)
    query = select(RankChange).where(RankChange.board == after, RankChange.board_before == before)
    rows = db.exec(
        query.where(RankChange.metric == metric.name).order_by(RankChange.submission_id)
    ).all()
    if not rows:
        return f"Scores: {suite.title} has no entry on both boards; nothing to compare."
    return f"Scores: {suite.title}, {rows[0].reason}. {_sentence(metric, rows)}"


def _sentence(metric: Metric, rows: Sequence[RankChange]) -> str:
    moved = [
        row.value - row.value_before
        for row in rows
        if row.value is not None and row.value_before is not None
    ]
    ranks = [row for row in rows if row.rank != row.rank_before]
    moves = ", ".join(
        f"{row.submission_id} {row.rank_before or '–'} → {row.rank or '–'}" for row in ranks[:10]
    )
    values = (
        f"{metric.title} of {len(moved)} entries moved by {sum(moved) / len(moved):+.3g} on "
        "average, "
        f"from {min(moved):+.3g} to {max(moved):+.3g}"
        if moved
        else "No entry has a value on both"
    )
    return f"{values}; {len(ranks)} ranks changed{': ' + moves if moves else ''}."

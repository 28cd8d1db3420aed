"""What another judge or another scorer changes: places on the new board against the one before, with reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, select

from evaluators.contracts import ALL, Metric, Suite
from flows.attempts import ladder_metric
from infra import tables
from infra.db import put
from infra.tables_standing import RankChange, Roster, Standing


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a run stands on its board over everything; None is: not ranked, or without a value."""

    rank: int | None
    value: float | None


def note(db: Session, suite: Suite, run: tables.Run) -> None:
    """Hold a board against the one its entries stood on before, as soon as a run stands on both."""
    before = previous(db, run)
    if before:
        put(db, RankChange, list(_changes(db, suite, before.board, run.board)))


def previous(db: Session, run: tables.Run) -> tables.Run | None:
    """The submission's run that was published last on another board of the same samples."""
    table = tables.Run
    query = select(table).where(table.submission_id == run.submission_id, table.board != run.board)
    query = query.where(table.state == "published", table.subset == run.subset)
    return db.exec(query.order_by(col(table.published_at).desc(), table.id).limit(1)).first()


def _changes(db: Session, suite: Suite, before: str, after: str) -> Iterator[dict[str, Any]]:
    old, new = _runs(db, before), _runs(db, after)
    metrics = [metric for metric in suite.metrics if metric.headline or metric == ladder_metric(suite)]
    for submission in sorted(old.keys() & new.keys()):
        reason = why(db, old[submission], new[submission])
        for metric in metrics:
            was, is_ = spot(db, old[submission], metric), spot(db, new[submission], metric)
            yield {
                "board": after,
                "board_before": before,
                "submission_id": submission,
                "metric": metric.name,
                "modality": ALL,
                "suite": suite.name,
                "run_id": new[submission].id,
                "run_before": old[submission].id,
                "rank_before": was.rank,
                "rank": is_.rank,
                "value_before": was.value,
                "value": is_.value,
                "reason": reason,
                "at": tables.now(),
            }


def _runs(db: Session, board: str) -> dict[str, tables.Run]:
    found = db.exec(select(tables.Run).where(tables.Run.board == board, tables.Run.state == "published"))
    return {run.submission_id: run for run in found}


def why(db: Session, before: tables.Run, after: tables.Run) -> str:
    """What differs between the rules of two runs, in words."""
    reasons = []
    if before.judge != after.judge:
        names = [db.get_one(tables.Judge, run.judge) for run in (before, after)]
        told = [f"{judge.name} ({judge.fingerprint[:6]})" for judge in names]
        reasons.append(f"another judge: {told[0]} before, {told[1]} now")
    for name, word in (("scorer_version", "scorer"), ("suite_version", "suite version")):
        if getattr(before, name) != getattr(after, name):
            reasons.append(f"{word} {getattr(before, name)} before, {getattr(after, name)} now")
    return "; ".join(reasons) or "the suite's items changed"


def spot(db: Session, run: tables.Run, metric: Metric) -> Spot:
    """Where a run stands for a metric over everything."""
    cell = db.get(tables.Cell, (run.id, metric.name, ALL, ALL, ALL, ALL))
    rosters = db.exec(select(Roster).where(Roster.board == run.board, Roster.modality == ALL)).all()
    for roster in (one for one in rosters if run.id in one.runs):
        row = db.get(Standing, (run.board, roster.samples_sha256, ALL, metric.name, ALL, ALL, ALL))
        if row:
            return Spot(row.rank[roster.runs.index(run.id)], cell.value if cell else None)
    return Spot(None, cell.value if cell else None)


def scores_line(db: Session, suite: Suite, before: str, after: str) -> str:
    """The changelog's line about two boards: what changed, how far values moved, and whose rank."""
    metric = ladder_metric(suite)
    query = select(RankChange).where(RankChange.board == after, RankChange.board_before == before)
    rows = db.exec(query.where(RankChange.metric == metric.name).order_by(RankChange.submission_id)).all()
    if not rows:
        return f"Scores: {suite.title} has no entry on both boards; nothing to compare."
    return f"Scores: {suite.title}, {rows[0].reason}. {_sentence(metric, rows)}"


def _sentence(metric: Metric, rows: Sequence[RankChange]) -> str:
    moved = [row.value - row.value_before for row in rows if row.value is not None and row.value_before is not None]
    ranks = [row for row in rows if row.rank != row.rank_before]
    told = ", ".join(f"{row.submission_id} {row.rank_before or '–'} → {row.rank or '–'}" for row in ranks[:10])
    values = (
        f"{metric.title} of {len(moved)} entries moved by {sum(moved) / len(moved):+.3g} on average, "
        f"from {min(moved):+.3g} to {max(moved):+.3g}"
        if moved
        else "No entry has a value on both"
    )
    return f"{values}; {len(ranks)} ranks changed{': ' + told if told else ''}."

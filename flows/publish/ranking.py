"""Who stands where on a board: a run's summaries enter the rosters, and only its own differences
are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, col, select

from evaluators.aggregate.summaries import Summary
from evaluators.contracts import Metric, Suite
from evaluators.statistics.growth import Field, build, grow, on_steps, ranks
from infra import tables
from infra.db import add_new, put
from infra.tables import standing
from infra.tables.standing import NOTHING, Roster, Standing

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
ADDRESS = ("metric", "scenario", "task", "setting")


@dataclass(frozen=True, slots=True)
class SummaryMatrices:
    """Summaries of some runs as matrices, a row a run: values and clusters by slot, influences slot
    after slot."""

    values: Floats
    clusters: Ints
    influence: Ints


def store_summary(db: Session, suite: Suite, run: tables.Run, summary: Summary) -> None:
    """Keep what a run brings to comparisons, ranked or not."""
    scale = {metric.name: _scale(metric) for metric in suite.metrics}
    parts = [
        np.zeros(slot.clusters, np.int32)
        if column is None
        else on_steps(column.influence, scale[slot.metric])
        for slot, column in zip(summary.slots, summary.columns, strict=True)
    ]
    row = {
        "run_id": run.id,
        "modality": summary.modality,
        "board": run.board,
        "samples_sha256": summary.samples_sha256,
        "figures": np.array(
            [np.nan if c is None else c.value for c in summary.columns], "<f8"
        ).tobytes(),
        "clusters": np.array(
            [0 if c is None else c.clusters for c in summary.columns], "<i4"
        ).tobytes(),
        "influence": np.concatenate([*parts, np.zeros(0, np.int32)]).astype("<i4").tobytes(),
    }
    put(db, standing.Summary, [row])


def enter(
    db: Session, suite: Suite, run: tables.Run, summary: Summary, leaving: Sequence[str] = ()
) -> None:
    """Rank a run among those of its board that answered the same samples; others may leave for
    it."""
    key = {
        "board": run.board,
        "samples_sha256": summary.samples_sha256,
        "modality": summary.modality,
    }
    layout = [[slot.metric, *_free(slot.facets), slot.clusters] for slot in summary.slots]
    first = {
        **key,
        "suite": suite.name,
        "n_samples": summary.n_samples,
        "version": 0,
        "runs": [],
        "columns": layout,
    }
    add_new(db, Roster, [first])
    roster = db.get_one(Roster, tuple(key.values()), populate_existing=True)
    if roster.columns != layout:
        raise ValueError(
            f"Run {run.id} has other ranked cells than board {run.board}. Only equal keys are "
            "compared."
        )
    if run.id not in roster.runs:
        stay = [name for name in roster.runs if name not in leaving]
        _renew(db, suite, roster, [*stay, run.id], grows=stay == roster.runs)


def leave(db: Session, suite: Suite, run: tables.Run) -> None:
    """Take a run out of all rosters of its board and rank the others without it."""
    for roster in db.exec(select(Roster).where(Roster.board == run.board)).all():
        if run.id in roster.runs:
            _renew(db, suite, roster, [name for name in roster.runs if name != run.id], grows=False)


def renew(db: Session, suite: Suite, run: tables.Run) -> None:
    """A run's numbers are others now: rank those of its rosters again, the same runs in the same
    order."""
    for roster in db.exec(select(Roster).where(Roster.board == run.board)).all():
        if run.id in roster.runs:
            _renew(db, suite, roster, list(roster.runs), grows=False)


def _free(facets: Any) -> list[str]:
    return [facets.scenario, facets.task, facets.setting]


def _renew(db: Session, suite: Suite, roster: Roster, runs: list[str], grows: bool) -> None:
    """Write the roster and its standings anew; `grows`: the last run is new and all others were
    there."""
    packed = _packed(db, roster, runs)
    before = (
        {tuple(getattr(row, name) for name in ADDRESS): row for row in _standings(db, roster)}
        if grows
        else {}
    )
    metrics = {metric.name: metric for metric in suite.metrics}
    rows = [
        _standing(roster, column, metrics[column[0]], part, before.get(tuple(column[:4])))
        for column, part in zip(roster.columns, _parts(packed, roster.columns), strict=True)
    ]
    put(db, Standing, rows)
    put(db, Roster, [{**roster.model_dump(), "runs": runs, "version": roster.version + 1}])


def _standings(db: Session, roster: Roster) -> Sequence[Standing]:
    query = select(Standing).where(
        Standing.board == roster.board, Standing.samples_sha256 == roster.samples_sha256
    )
    return db.exec(query.where(Standing.modality == roster.modality)).all()


def _packed(db: Session, roster: Roster, runs: Sequence[str]) -> SummaryMatrices:
    table = standing.Summary
    query = select(table.run_id, table.figures, table.clusters, table.influence)
    query = query.where(table.board == roster.board, table.samples_sha256 == roster.samples_sha256)
    summaries = {
        row[0]: row[1:] for row in db.execute(query.where(col(table.modality) == roster.modality))
    }
    chosen = [summaries[run] for run in runs]

    def stacked(at: int, kind: str) -> Any:
        return np.frombuffer(b"".join(row[at] for row in chosen), kind).reshape(len(chosen), -1)

    return SummaryMatrices(stacked(0, "<f8"), stacked(1, "<i4"), stacked(2, "<i4"))


def _parts(packed: SummaryMatrices, columns: Sequence[Sequence[Any]]) -> Iterator[SummaryMatrices]:
    """The matrices of each slot."""
    start = 0
    for number, column in enumerate(columns):
        stop = start + column[4]
        yield SummaryMatrices(
            packed.values[:, number], packed.clusters[:, number], packed.influence[:, start:stop]
        )
        start = stop


def _standing(
    roster: Roster,
    column: Sequence[Any],
    metric: Metric,
    part: SummaryMatrices,
    before: Standing | None,
) -> dict[str, Any]:
    """The row of one ranked cell. A run without a value there has None in each list."""
    present = np.flatnonzero(~np.isnan(part.values))
    higher = metric.direction == "higher"
    field = _field(part, present, metric, before)
    above = np.where(field.above >= 0, present[field.above], -1) if len(present) else field.above
    lists = {
        "rank": np.array(ranks(field, higher=higher), np.int64),
        "better": field.better,
        "worse": field.worse,
        "above": above,
    }
    return {
        **{name: getattr(roster, name) for name in ("board", "samples_sha256", "modality")},
        **dict(zip(ADDRESS, column, strict=False)),
        "clusters": field.clusters,
        "bar": min(field.bar, BEYOND),
        "sizes": _trimmed(field.sizes),
        **{name: _placed(values, present, len(part.values)) for name, values in lists.items()},
    }


BEYOND = 1e9
"""The bar where nobody can be told apart; a database keeps no infinity."""


def _field(
    part: SummaryMatrices, present: NDArray[np.int64], metric: Metric, before: Standing | None
) -> Field:
    values, rows = part.values[present], part.influence[present].astype(np.float64)
    clusters = int(part.clusters[present].min(initial=part.influence.shape[1]))
    settings: Mapping[str, Any] = {"scale": _scale(metric), "higher": metric.direction == "higher"}
    last = len(part.values) - 1
    if before is None or not len(present) or present[-1] != last:
        return build(values, rows, clusters, **settings)
    field = _stored(before, values[:-1], rows[:-1], present[:-1])
    return grow(field, float(values[-1]), rows[-1], clusters, **settings)


def _stored(row: Standing, values: Floats, influence: Floats, present: NDArray[np.int64]) -> Field:
    sizes = np.zeros(256, np.int64)
    sizes[: len(row.sizes)] = row.sizes
    place = np.full(1 + int(present.max(initial=-1)), -1, np.int64)
    place[present] = np.arange(len(present))

    def kept(values_of_all: Sequence[int]) -> NDArray[np.int64]:
        return np.array(values_of_all, np.float64)[present].astype(np.int64)

    above = kept(row.above)
    above = np.where(above >= 0, place[above], -1) if len(present) else above
    bar = float("inf") if row.bar >= BEYOND else row.bar
    return Field(
        values, influence, row.clusters, bar, sizes, kept(row.better), kept(row.worse), above
    )


def _placed(values: NDArray[np.int64], present: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    placed = np.full(count, NOTHING)
    placed[present] = values
    return placed


def _trimmed(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    used = np.flatnonzero(sizes)
    return sizes[: used[-1] + 1] if len(used) else sizes[:0]


def _scale(metric: Metric) -> float:
    return abs(metric.best - metric.worst)

"""The figures of several metrics for the entries of one board, and a picture for each entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import bindparam
from sqlalchemy import select as bare_select
from sqlmodel import Session

from infra.db import columns_of
from infra.tables import Cell, Metric, Output
from leaderboard.queries.ranking import FACETS, BoardAddress

INDEX = "index"
"""What a suite calls the metric that sums up its others."""


@dataclass(frozen=True, slots=True)
class HeadlineFigure:
    """One metric of one run at one address."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """An output that stands for its entry in a list."""

    sample_id: str
    media_sha256: str
    media_type: str


def headline_metrics(metrics: Sequence[Metric], chosen: str) -> list[Metric]:
    """The columns of a ranking, in the suite's order: its headlines, its index, and what is
    ranked by."""
    return [metric for metric in metrics if metric.headline or metric.name in (INDEX, chosen)]


CELL, OUTPUT = columns_of(Cell), columns_of(Output)
FIGURES = bare_select(CELL.run_id, CELL.metric, CELL.value, CELL.low, CELL.high).where(
    CELL.run_id.in_(bindparam("runs", expanding=True)),
    CELL.metric.in_(bindparam("metrics", expanding=True)),
    *(CELL[facet] == bindparam(facet) for facet in FACETS),
)
FIRST_OUTPUT = (
    bare_select(OUTPUT.sample_id, OUTPUT.media_sha256, OUTPUT.media_type)
    .where(
        OUTPUT.submission_id == bindparam("submission"),
        OUTPUT.media_sha256 != "",
        OUTPUT.media_type.not_in(("text/plain", "application/json")),
    )
    .order_by(OUTPUT.sample_id)
    .limit(bindparam("most"))
)


def headline_figures(
    db: Session, runs: tuple[str, ...], metrics: tuple[str, ...], at: BoardAddress
) -> dict[tuple[str, str], HeadlineFigure]:
    """What each run has in each metric at one address, by run and metric."""
    rows = db.connection().execute(
        FIGURES, {"runs": list(runs), "metrics": list(metrics), **asdict(at)}
    )
    return {(run, metric): HeadlineFigure(*figures) for run, metric, *figures in rows}


def shown_outputs(db: Session, submission_id: str, most: int) -> list[ShownOutput]:
    """An entry's first outputs that can be looked at, in the order of their samples."""
    rows = db.connection().execute(FIRST_OUTPUT, {"submission": submission_id, "most": most})
    return [ShownOutput(*row) for row in rows]


def row_pictures(db: Session, submission_ids: tuple[str, ...]) -> dict[str, ShownOutput]:
    """One output for each entry that has any."""
    firsts = {name: shown_outputs(db, name, 1) for name in submission_ids}
    return {name: outputs[0] for name, outputs in firsts.items() if outputs}

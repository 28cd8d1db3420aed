"""Private samples on the board: aggregates and the gap to the public ones, never a sample, a prompt
or an output."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from sqlmodel import Session

from evaluators.aggregate.columns import Column, Key, columns, tabulate
from evaluators.contracts import ALL, Cell, Metric, Sample, Score, Suite
from evaluators.statistics.private_gap import Gap, Mean, gap
from infra import tables
from infra.db import put
from infra.tables.standing import Hidden

FEWEST = 5
"""An aggregate over fewer tasks would tell too much about each."""


@dataclass(frozen=True, slots=True)
class PrivateScores:
    """What a submission scored on the private samples; for aggregates, not to be shown or stored
    one by one."""

    samples: tuple[Sample, ...]
    scores: tuple[Score, ...]


def store(
    db: Session,
    suite: Suite,
    run: tables.Run,
    public: tuple[Sequence[Sample], Sequence[Score]],
    private: tuple[Sequence[Sample], Sequence[Score]],
) -> int:
    """Keep a run's aggregates on private samples, and how much better it is in public; return how
    many there are."""
    open_, closed = columns(suite, *public), columns(suite, *private)
    metrics = {metric.name: metric for metric in suite.metrics}
    bank = hashlib.sha256(
        "\n".join(sorted(sample.id for sample in private[0])).encode()
    ).hexdigest()
    rows = [
        _row(run.id, bank, metrics[cell.metric], cell, open_.get(_key(cell)), closed[_key(cell)])
        for cell in tabulate(suite, *private)
        if _key(cell) in closed and _is_coarse(cell) and len(closed[_key(cell)].ids) >= FEWEST
    ]
    put(db, Hidden, rows)
    return len(rows)


def _key(cell: Cell) -> Key:
    return cell.metric, cell.facets


def _is_coarse(cell: Cell) -> bool:
    """At most one facet is fixed beside the modality."""
    return (
        sum(value != ALL for value in (cell.facets.scenario, cell.facets.task, cell.facets.setting))
        <= 1
    )


def _row(
    run_id: str, bank: str, metric: Metric, cell: Cell, public: Column | None, private: Column
) -> dict[str, Any]:
    difference = (
        gap(_mean(public), _mean(private), higher=metric.direction == "higher") if public else None
    )
    return {
        "run_id": run_id,
        "metric": metric.name,
        "scenario": cell.facets.scenario,
        "task": cell.facets.task,
        "setting": cell.facets.setting,
        "modality": cell.facets.modality,
        "bank_sha256": bank,
        "value": cell.value,
        "low": cell.low,
        "high": cell.high,
        "n_scored": cell.n_scored,
        "n_expected": cell.n_expected,
        "gap": difference.value if difference else None,
        "gap_low": difference.low if difference else None,
        "gap_high": difference.high if difference else None,
        "gap_error": difference.error if difference else None,
        "marked": bool(difference and difference.marked),
        "text": _sentence(difference),
    }


def _mean(column: Column) -> Mean:
    count = column.clusters
    spread = float(np.sqrt((column.influence**2).sum()))
    return Mean(column.value, spread * sqrt(count / (count - 1)) if count >= 2 else 0.0, count)


def _sentence(difference: Gap | None) -> str:
    if difference is None:
        return "The gap to the public samples is not known: too few tasks."
    interval = f"{difference.low:.3g} to {difference.high:.3g}"
    sentence = f"Better in public by {difference.value:.3g} (95 %: {interval})"
    return (
        f"{sentence}: more than two standard errors."
        if difference.marked
        else f"{sentence}: within two standard errors."
    )

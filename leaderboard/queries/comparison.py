"""Any two entries of a board: their difference as the board computes it, how sure that is, and who
wins where.

The difference of two published figures, with what each task adds to it: macro means, differences
and a rule's own figures come out as they stand on the board. Wins, ties and losses are counted
where samples have scores.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, select

from infra.tables import Metric, Sample
from infra.tables.standing import Roster, Summary
from leaderboard.queries import paired
from leaderboard.queries.ranking import ALL, BoardAddress, NotOnBoard, metric_named
from leaderboard.queries.samples import RunFacts, run_facts, scored

GRID = float(1 << 25)
"""Publication keeps what a task adds as so many parts of a metric's range."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EntryComparison:
    """The first entry minus the second, its 95 % interval, p of a sign-flip test, and how many
    samples each wins."""

    first: str
    second: str
    metric: str
    difference: float
    low: float
    high: float
    error: float
    p: float
    tasks: int
    samples: int
    won: int
    tied: int
    lost: int
    note: str


@dataclass(frozen=True, slots=True)
class _Slot:
    """A run's ranked cell: its figure and what each task adds to its error."""

    value: float
    influence: Floats
    samples_sha256: str
    n_samples: int


def compare(
    db: Session, first: str, second: str, metric: str | None = None, at: BoardAddress | None = None
) -> EntryComparison:
    """Compare two runs of one board at an address that fixes at most one of scenario, task and
    setting."""
    runs = [
        run_facts(db, run_id) or _absent(f"There is no published run {run_id!r}.")
        for run_id in (first, second)
    ]
    if runs[0].board != runs[1].board:
        _absent(
            f"{first} and {second} stand on different boards. Only entries of one board are "
            "compared."
        )
    chosen, where = metric_named(db, runs[0].suite, metric), at or BoardAddress()
    left, right = (_slot(db, run, chosen, where) for run in runs)
    if left.samples_sha256 != right.samples_sha256:
        _absent(
            "These two answered different samples. Compare them where a modality that both have is "
            "chosen."
        )
    tasks = len(left.influence)
    value = left.value - right.value
    contributions = left.influence - right.influence + value / tasks
    paired_difference = paired.by_cluster(contributions, np.full(tasks, 1 / tasks), left.n_samples)
    if paired_difference is None:
        _absent("There are fewer than two tasks here: one task says nothing about the next.")
    assert paired_difference
    won, tied, lost = _tally(db, runs, chosen, where)
    return EntryComparison(
        first=first,
        second=second,
        metric=chosen.name,
        difference=value,
        low=paired_difference.low,
        high=paired_difference.high,
        error=paired_difference.error,
        p=paired_difference.p,
        tasks=paired_difference.clusters,
        samples=paired_difference.n,
        won=won,
        tied=tied,
        lost=lost,
        note=paired_difference.note,
    )


def _slot(db: Session, run: RunFacts, metric: Metric, at: BoardAddress) -> _Slot:
    row = db.get(Summary, (run.run_id, at.modality)) or _absent(
        f"{run.run_id} has no figures of {at.modality!r}."
    )
    assert isinstance(row, Summary)
    roster = db.get(Roster, (row.board, row.samples_sha256, row.modality))
    if roster is None:
        _absent(
            f"Nobody who answered the samples of {run.run_id} is ranked, so there is nothing to "
            "compare it with."
        )
    assert roster
    start = 0
    for number, (name, scenario, task, setting, clusters) in enumerate(roster.columns):
        if (name, scenario, task, setting) == (metric.name, at.scenario, at.task, at.setting):
            value = float(np.frombuffer(row.figures, "<f8")[number])
            if np.isnan(value):
                _absent(f"{run.run_id} has no value of {metric.title} here.")
            scale = abs(metric.best - metric.worst) / GRID
            influence = np.frombuffer(row.influence, "<i4")[start : start + clusters] * scale
            return _Slot(value, influence, row.samples_sha256, roster.n_samples)
        start += clusters
    raise NotOnBoard(
        f"Entries are not compared at this address of {metric.title}. Fix at most one of its "
        "facets."
    )


def _tally(
    db: Session, runs: list[RunFacts], metric: Metric, at: BoardAddress
) -> tuple[int, int, int]:
    """Samples at the address that the first wins, ties and loses."""
    address_filter = [
        getattr(Sample, facet) == value for facet, value in asdict(at).items() if value != ALL
    ]
    sample_ids = set(
        db.exec(select(Sample.id).where(Sample.suite == runs[0].suite, *address_filter))
    )
    first, second = (
        [
            score
            for score in scored(db, run.run_id, run.suite, run.version, metric.name)
            if score.sample_id in sample_ids
        ]
        for run in runs
    )
    tallies = paired.tallies(first, second, metric.direction == "higher")
    return (
        sum(tally.won for tally in tallies),
        sum(tally.tied for tally in tallies),
        sum(tally.lost for tally in tallies),
    )


def _absent(text: str) -> RunFacts:
    raise NotOnBoard(text)

"""Any two entries of a board: their difference as the board computes it, how sure that is, and who
wins where.

The difference of two published figures, with what each task adds to it as publication wrote it
down: macro means, differences and a rule's own figures come out as they stand on the board, and the
difference is told by Student's t as its ranks are. Wins, ties and losses are counted where samples
have scores.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, col, select

from infra.tables import Metric, Run, Sample, Submission
from infra.tables.standing import Roster, Summary
from leaderboard.queries import paired
from leaderboard.queries.ranking import ALL, BoardAddress, NotOnBoard, metric_named
from leaderboard.queries.samples import RunFacts, run_facts, scored

GRID = float(1 << 25)
"""Publication keeps what a task adds as so many parts of a metric's range."""

CONFIDENCE = 0.95
POWER = 0.8
MOST_TASKS = 1_000_000
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EntryComparison:
    """The first entry minus the second, its 95 % interval, p of Student's t between tasks, and how
    many samples each wins."""

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
    if tasks < 2:
        _absent("There are fewer than two tasks here: one task says nothing about the next.")
    value = left.value - right.value
    error = sqrt(float(((left.influence - right.influence) ** 2).sum()) * tasks / (tasks - 1))
    arm = quantile(tasks - 1, (1 + CONFIDENCE) / 2) * error
    won, tied, lost = _tally(db, runs, chosen, where)
    return EntryComparison(
        first=first,
        second=second,
        metric=chosen.name,
        difference=value,
        low=value - arm,
        high=value + arm,
        error=error,
        p=p_value(value, error, tasks),
        tasks=tasks,
        samples=left.n_samples,
        won=won,
        tied=tied,
        lost=lost,
        note=how_sure(value, error, tasks),
    )


def quantile(freedom: int, probability: float) -> float:
    """Student's t that stays below it with this probability.

    >>> round(quantile(79, 0.975), 3)
    1.99
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def p_value(difference: float, error: float, tasks: int) -> float:
    """The chance of a difference as large between equals, by Student's t.

    >>> round(p_value(2.0, 1.0, 80), 3), p_value(0.0, 0.0, 80), p_value(1.0, 0.0, 80)
    (0.049, 1.0, 0.0)
    """
    from scipy.special import stdtr

    if not error:
        return 0.0 if difference else 1.0
    return 2 * float(stdtr(tasks - 1, -abs(difference) / error))


def how_sure(difference: float, error: float, tasks: int) -> str:
    """How many tasks would tell the two apart four times in five, if they differ as much as seen.

    >>> how_sure(2.0, 1.0, 80)
    'About 159 tasks would find it four times in five; there are 80.'
    """
    needed = tasks_needed(difference, error, tasks)
    if needed is None:
        return "No number of tasks would separate these two."
    if needed <= tasks:
        return f"Found four times in five with {needed} tasks; there are {tasks}."
    return f"About {needed} tasks would find it four times in five; there are {tasks}."


def tasks_needed(difference: float, error: float, tasks: int) -> int | None:
    """How many tasks a difference needs to be found four times in five; None if no number does.

    >>> tasks_needed(2.0, 1.0, 80), tasks_needed(0.0, 1.0, 80)
    (159, None)
    """
    if not difference or abs(difference) * sqrt(MOST_TASKS / tasks) < error:
        return None
    from scipy.special import ndtri

    ratio, needed = (error / difference) ** 2 * tasks, 2.0
    for _ in range(50):
        bar = quantile(max(ceil(needed) - 1, 1), (1 + CONFIDENCE) / 2) + float(ndtri(POWER))
        needed = max(ratio * bar**2, 2.0)
    return ceil(round(needed, 6))


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
                _absent(f"{run.model} ({run.run_id}) has no value of {metric.title} here.")
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


def recipes(db: Session, run_ids: Collection[str]) -> dict[str, str]:
    """Which runs are one recipe with other seeds, whatever they are called.

    A recipe is a team's base and sampling without the seed, where its note tells how the model was
    made; on one board, two runs of one seed are no two of a recipe. Runs without such a note are
    left out.
    """
    manifest = col(Submission.manifest)
    query = (
        select(  # type: ignore[call-overload]
            Run.id, Run.board, Submission.team, manifest["sampling"], manifest["model"]["base"]
        )
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .where(col(Run.id).in_(run_ids))
    )
    return same_recipes(tuple(row) for row in db.execute(query))


def same_recipes(rows: Iterable[tuple[str, str, str, Any, Any]]) -> dict[str, str]:
    """The recipe of each run, from its board, team, sampling and base.

    >>> own = {"note": "projector", "seed": 0}
    >>> rows = [("r0", "b", "owls", own, None), ("r1", "b", "owls", {**own, "seed": 1}, None)]
    >>> len(set(same_recipes(rows).values())), same_recipes([*rows, ("r2", *rows[0][1:])])
    (1, {})
    """
    seeds: dict[str, list[str]] = {}
    recipe_of: dict[str, str] = {}
    for run, board, team, sampling, base in rows:
        if (sampling or {}).get("note"):
            told = {name: value for name, value in sampling.items() if name != "seed"}
            recipe_of[run] = json.dumps([board, team, base, told], sort_keys=True)
            seeds.setdefault(recipe_of[run], []).append(str(sampling.get("seed")))
    unique = {recipe for recipe, own in seeds.items() if len(set(own)) == len(own)}
    return {run: recipe for run, recipe in recipe_of.items() if recipe in unique}

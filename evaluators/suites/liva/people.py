"""From what people ticked, rated and chose in a study to L-IVA's human numbers: scores of samples,
cells, standings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluators.contracts import Opinion, Outcome, Output, Sample, Score
from evaluators.metrics.ranking import Ballot, BwsRank, bws
from evaluators.metrics.rates import PlausibilityRating, SubgoalJudgment, pps, tsr
from evaluators.suites.liva.metrics import FAILURE_WORDS

RESAMPLES = 2000
FLAGGED = 0.5
"""A case that this share of its raters calls faulty is queued for repair."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RatedVideo:
    """One rater's view of one video: the subgoals ticked (by position) of so many, and a
    plausibility from 1 to 5.

    `lead` is 1 if it was called the best of those shown, -1 if the worst, 0 if neither, None
    without a ballot; `tags` are the kinds of failure that were marked.
    """

    sample_id: str
    rater: str
    ticked: tuple[int, ...]
    subgoals: int
    plausibility: float | None
    unable: bool = False
    lead: int | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BestWorstChoice:
    """One rater's best and worst among the methods shown for a case."""

    case_id: str
    rater: str
    ballot: Ballot


@dataclass(frozen=True, slots=True)
class RankedMethod:
    """A standing with the 95 % interval of its score; cases are drawn again with all their
    ballots."""

    standing: BwsRank
    low: float | None
    high: float | None


def score(sample: Sample, output: Output, opinions: Sequence[Opinion]) -> tuple[Score, ...]:
    """People's scores of one video; a missing video gets its outcome, which counts as the worst."""
    if output.outcome is not Outcome.SCORED:
        return tuple(Score(sample.id, name, output.outcome) for name in ("tsr", "pps", "bws"))
    subgoals = sample.reference["subgoals"]
    assert isinstance(subgoals, list)
    return scores([rated(sample.id, len(subgoals), opinion) for opinion in opinions])


def rated(name: str, subgoals: int, opinion: Opinion) -> RatedVideo:
    """An opinion about one video, read: ticks `goal1`, `goal2`, a mark `pps`, `best` and `worst`,
    `unable`."""
    answers_given = opinion.answers
    unable = answers_given.get("unable") is True
    ticked = tuple(
        position for position in range(subgoals) if answers_given.get(f"goal{position + 1}") is True
    )
    mark = answers_given.get("pps")
    lead = (
        None
        if unable or "best" not in answers_given
        else (answers_given["best"] is True) - (answers_given.get("worst") is True)
    )
    tags = tuple(kind for kind in FAILURE_WORDS if answers_given.get(f"tag_{kind}") is True)
    plausibility = float(str(mark)) if mark else None
    return RatedVideo(name, opinion.rater, ticked, subgoals, plausibility, unable, lead, tags)


def scores(rows: Sequence[RatedVideo]) -> tuple[Score, ...]:
    """Task success, plausibility, ballots and each subgoal of each rated video of one method;
    `tabulate` makes cells.

    A video that nobody could label is left out of all.
    """
    by_sample: dict[str, list[RatedVideo]] = {}
    for row in rows:
        by_sample.setdefault(row.sample_id, []).append(row)
    return tuple(score for sample, mine in by_sample.items() for score in _scores(sample, mine))


def profile(rows: Iterable[RatedVideo]) -> dict[int, float]:
    """The share of usable judgments in which each subgoal is ticked, by its position from 0.

    >>> ticks = {"r1": (0,), "r2": (0, 1)}
    >>> profile([RatedVideo("c.closed_loop", rater, ticks[rater], 2, 4) for rater in ticks])
    {0: 1.0, 1: 0.5}
    """
    ticks_by_position: dict[int, list[bool]] = {}
    for row in rows:
        if not row.unable:
            for position in range(row.subgoals):
                ticks_by_position.setdefault(position, []).append(position in row.ticked)
    return {
        position: sum(ticks) / len(ticks) for position, ticks in sorted(ticks_by_position.items())
    }


def best_worst(
    methods: Sequence[str], choices: Sequence[BestWorstChoice], seed: int = 0
) -> tuple[RankedMethod, ...]:
    """Best-worst scores over all ballots, with intervals; a method that no valid ballot showed has
    neither."""
    whole = bws(methods, [choice.ballot for choice in choices])
    cases = sorted({choice.case_id for choice in choices})
    lead, times_shown = _tallies(methods, choices, cases)
    draws = (
        np.random.default_rng(seed).integers(0, len(cases), (RESAMPLES, len(cases)))
        if len(cases) > 1
        else None
    )
    return tuple(
        _ranged(standing, lead[n], times_shown[n], draws)
        for n, standing in enumerate(whole.standings)
    )


def faulty(rows: Iterable[RatedVideo], case_of: dict[str, str]) -> tuple[str, ...]:
    """Cases that at least half of their raters could not label, in order; `case_of` maps samples to
    cases."""
    unable_by_case: dict[str, dict[str, bool]] = {}
    for row in rows:
        raters = unable_by_case.setdefault(case_of[row.sample_id], {})
        raters[row.rater] = raters.get(row.rater, False) or row.unable
    return tuple(
        sorted(
            case
            for case, raters in unable_by_case.items()
            if sum(raters.values()) >= FLAGGED * len(raters)
        )
    )


def _scores(sample: str, rows: Sequence[RatedVideo]) -> Iterator[Score]:
    ticks = [
        SubgoalJudgment(sample, row.rater, len(set(row.ticked)), row.subgoals, row.unable)
        for row in rows
    ]
    stars = [PlausibilityRating(sample, row.rater, row.plausibility, row.unable) for row in rows]
    for metric, value in (("tsr", tsr(ticks).value), ("pps", pps(stars).value)):
        outcome = Outcome.EXCLUDED if value is None else Outcome.SCORED
        yield Score(sample, metric, outcome, value, {"raters": len(rows)})
    ballots = [row.lead for row in rows if row.lead is not None]
    if ballots:
        yield Score(
            sample,
            "bws",
            Outcome.SCORED,
            100 * sum(ballots) / len(ballots),
            {"ballots": list(ballots)},
        )
    elif all(row.unable for row in rows):
        yield Score(sample, "bws", Outcome.EXCLUDED)
    for position, share in profile(rows).items():
        yield Score(sample, f"subgoal_{position + 1}", Outcome.SCORED, share)
    usable = [row for row in rows if not row.unable]
    for kind in FAILURE_WORDS if usable else ():
        tagged = sum(kind in row.tags for row in usable) / len(usable)
        yield Score(sample, f"tag_{kind}", Outcome.SCORED, tagged)


def _tallies(
    methods: Sequence[str], choices: Sequence[BestWorstChoice], cases: Sequence[str]
) -> tuple[Floats, Floats]:
    """Best minus worst, and times shown, of each method in each case."""
    place = {case: number for number, case in enumerate(cases)}
    lead, times_shown = np.zeros((len(methods), len(cases))), np.zeros((len(methods), len(cases)))
    for choice in choices:
        if bws(methods, [choice.ballot]).n_valid:
            column = place[choice.case_id]
            for row, method in enumerate(methods):
                times_shown[row, column] += method in choice.ballot.methods
                lead[row, column] += (choice.ballot.best == method) - (
                    choice.ballot.worst == method
                )
    return lead, times_shown


def _ranged(
    standing: BwsRank, lead: Floats, times_shown: Floats, draws: NDArray[np.int64] | None
) -> RankedMethod:
    if standing.score is None or draws is None:
        return RankedMethod(standing, None, None)
    times_drawn = times_shown[draws].sum(axis=1)
    scores = 100 * lead[draws].sum(axis=1)[times_drawn > 0] / times_drawn[times_drawn > 0]
    low, high = np.quantile(scores, [0.025, 0.975])
    return RankedMethod(standing, float(low), float(high))

"""How well one order agrees with another: best-worst scaling, Pearson, Spearman and MMRV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Ballot:
    """One evaluator's best and worst of the methods shown."""

    methods: tuple[str, ...]
    best: str | None
    worst: str | None
    unable_to_label: bool = False


@dataclass(frozen=True, slots=True)
class BwsRank:
    """A method's score from -100 to 100 and its rank, both absent if no valid ballot showed it."""

    method: str
    score: float | None
    rank: int | None
    n_shown: int


@dataclass(frozen=True, slots=True)
class BestWorst:
    """The standings in the order the methods were given, and how many ballots counted."""

    standings: tuple[BwsRank, ...]
    n_valid: int
    n_invalid: int


def bws(methods: Sequence[str], ballots: Sequence[Ballot]) -> BestWorst:
    """Score each method by how much more often it is best than worst where it is shown; equal
    scores share a rank.

    >>> ballots = [Ballot(("a", "b", "c"), "a", "b"), Ballot(("a", "b"), "a", "a")]
    >>> result = bws(["a", "b", "c"], ballots)
    >>> [(s.method, s.score, s.rank) for s in result.standings], result.n_invalid
    ([('a', 100.0, 1), ('b', -100.0, 3), ('c', 0.0, 2)], 1)
    """
    valid = [ballot for ballot in ballots if _counts(ballot)]
    scores = [_score(method, valid) for method in methods]
    times_shown = [sum(method in ballot.methods for ballot in valid) for method in methods]
    standings = map(BwsRank, methods, scores, competition_ranks(scores), times_shown)
    return BestWorst(tuple(standings), len(valid), len(ballots) - len(valid))


def competition_ranks(scores: Sequence[float | None]) -> tuple[int | None, ...]:
    """Rank from the highest down: equals share the better rank and the next one is skipped; no
    score, no rank.

    >>> competition_ranks([5.0, 7.0, None, 5.0, 1.0])
    (2, 1, None, 2, 4)
    """
    from scipy.stats import rankdata

    downwards = [-score for score in scores if score is not None]
    ranks = iter(rankdata(downwards, method="min").astype(int).tolist())
    return tuple(None if score is None else next(ranks) for score in scores)


def pearson(predicted: Sequence[float], real: Sequence[float]) -> float | None:
    """Correlate two sides linearly; undefined with fewer than two points or a side that does not
    vary.

    >>> round(pearson([1.0, 2.0, 3.0], [6.0, 4.0, 2.0]), 12), pearson([1.0, 1.0], [0.0, 1.0])
    (-1.0, None)
    """
    x, y = _points(predicted, real)
    if not _vary(x, y):
        return None
    from scipy.stats import pearsonr

    return float(pearsonr(x, y).statistic)


def pearson_p(predicted: Sequence[float], real: Sequence[float]) -> float | None:
    """Give how often unrelated sides would correlate as strongly; undefined where Pearson is, and
    of two points.

    >>> round(pearson_p([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]), 3)
    0.2
    >>> pearson_p([1.0, 2.0], [0.0, 1.0])
    """
    x, y = _points(predicted, real)
    if x.size < 3 or not _vary(x, y):
        return None
    from scipy.stats import pearsonr

    return float(pearsonr(x, y).pvalue)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Correlate the ranks of two sides, equals sharing their average rank; undefined where Pearson
    is.

    >>> round(spearman([1, 2, 3], [10, 1000, 100]), 12)
    0.5
    """
    x, y = _points(first, second)
    if not _vary(x, y):
        return None
    from scipy.stats import spearmanr

    return float(spearmanr(x, y).statistic)


def mmrv(*, sim: Sequence[float], real: Sequence[float]) -> float | None:
    """Average over points the largest real gap to a point that the simulation ranks the other way
    round.

    The sides are not interchangeable, hence the names. A tie counts as "not greater", as in
    SIMPLER's code.

    >>> mmrv(sim=[0.5, 0.2, 0.8], real=[0.25, 0.5, 1.0])
    0.16666666666666666
    """
    simulated, actual = _points(sim, real)
    if not actual.size:
        return None
    gaps = np.abs(actual[:, None] - actual[None, :])
    swapped = (simulated[:, None] > simulated[None, :]) != (actual[:, None] > actual[None, :])
    return float(np.mean(np.max(gaps * swapped, axis=1)))


def _counts(ballot: Ballot) -> bool:
    named = {ballot.best, ballot.worst}
    return not ballot.unable_to_label and len(named) == 2 and named <= set(ballot.methods)


def _score(method: str, ballots: Sequence[Ballot]) -> float | None:
    comparisons = [ballot for ballot in ballots if method in ballot.methods]
    lead = sum(ballot.best == method for ballot in comparisons) - sum(
        ballot.worst == method for ballot in comparisons
    )
    return 100 * lead / len(comparisons) if comparisons else None


def _points(
    first: Sequence[float], second: Sequence[float]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    if len(first) != len(second):
        raise ValueError(
            f"The sides have {len(first)} and {len(second)} points. Give one of each per point."
        )
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        at = int(np.flatnonzero(~(np.isfinite(x) & np.isfinite(y)))[0])
        raise ValueError(
            f"Point {at} is ({first[at]}, {second[at]}). Give finite numbers on both sides."
        )
    return x, y


def _vary(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> bool:
    return x.size > 1 and bool(np.ptp(x) and np.ptp(y))

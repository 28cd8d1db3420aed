"""How well rates inside a world model agree with the real ones: from matched outcomes to the
suite's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from evaluators.metrics.means import mean
from evaluators.metrics.outcomes import MatchedOutcome, ObjectOutcome, Reproduction, reproduction
from evaluators.metrics.ranking import mmrv, pearson
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA

NOTHING_HELD = ObjectOutcome(False, False, False)


@dataclass(frozen=True, slots=True)
class Match:
    """A start of a policy: what held on the real table and in the rollout from the same start; None
    is no rollout."""

    start: str
    policy: int
    split: str
    real: tuple[ObjectOutcome, ...]
    rollout: tuple[ObjectOutcome, ...] | None


@dataclass(frozen=True, slots=True)
class Point:
    """One policy and criterion: its predicted and its real success rate."""

    policy: int
    criterion: str
    predicted: float
    real: float


@dataclass(frozen=True, slots=True)
class EvaluatorAgreement:
    """All numbers of one mode over some matches."""

    points: tuple[Point, ...]
    pearson_r: float | None
    mmrv: float | None
    pearson_r_within: float | None
    rate_error: float | None
    reproduction: Reproduction


def points(matches: Sequence[Match], criteria: Sequence[str] = CRITERIA) -> tuple[Point, ...]:
    """The success rates, per object over all matches of a policy; a missing rollout meets no
    criterion."""
    policies = list(dict.fromkeys(match.policy for match in matches))
    return tuple(
        _point(matches, policy, criterion) for policy in policies for criterion in criteria
    )


def agree(matches: Sequence[Match], criteria: Sequence[str] = CRITERIA) -> EvaluatorAgreement:
    """Compare predicted with real over every point; within a criterion, its mean taken off both
    sides."""
    rate_points = points(matches, criteria)
    predicted, real = (
        [point.predicted for point in rate_points],
        [point.real for point in rate_points],
    )
    return EvaluatorAgreement(
        points=rate_points,
        pearson_r=pearson(predicted, real),
        mmrv=mmrv(sim=predicted, real=real),
        pearson_r_within=within(rate_points),
        rate_error=mean(
            [
                abs(predicted_rate - real_rate)
                for predicted_rate, real_rate in zip(predicted, real, strict=True)
            ]
        ),
        reproduction=reproduction(
            [MatchedOutcome(match.real, match.rollout or ()) for match in matches]
        ),
    )


def rolled(match: Match) -> tuple[ObjectOutcome, ...]:
    """What held in the rollout; without one nothing did."""
    return match.rollout if match.rollout else (NOTHING_HELD,) * len(match.real)


def within(rate_points: Sequence[Point]) -> float | None:
    """Pearson r after each criterion's mean is taken off: what is left is telling policies apart.

    >>> rows = [(1, "a", 0.2, 0.1), (2, "a", 0.4, 0.3), (1, "b", 0.9, 0.8), (2, "b", 0.7, 0.6)]
    >>> within([Point(*row) for row in rows])
    1.0
    """
    predicted, real = [], []
    for criterion in dict.fromkeys(point.criterion for point in rate_points):
        same = [point for point in rate_points if point.criterion == criterion]
        predicted += _centred(point.predicted for point in same)
        real += _centred(point.real for point in same)
    correlation = pearson(
        [round(value, 12) for value in predicted], [round(value, 12) for value in real]
    )
    return None if correlation is None else round(correlation, 12)


def _centred(values: Iterable[float]) -> list[float]:
    listed = list(values)
    middle = fsum(listed) / len(listed)
    return [value - middle for value in listed]


def _point(matches: Sequence[Match], policy: int, criterion: str) -> Point:
    mine = [match for match in matches if match.policy == policy]
    predicted = [outcome for match in mine for outcome in rolled(match)]
    real = [outcome for match in mine for outcome in match.real]
    return Point(policy, criterion, _rate(predicted, criterion), _rate(real, criterion))


def _rate(outcomes: Sequence[ObjectOutcome], criterion: str) -> float:
    return sum(bool(getattr(outcome, criterion)) for outcome in outcomes) / len(outcomes)

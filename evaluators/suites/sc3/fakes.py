"""Evaluators that look at no frame: what a pooled correlation gives away to somebody who knows
nothing of a policy."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA


def criterion_mean(matches: Sequence[Match]) -> list[ObjectOutcome]:
    """Every policy meets a criterion as often as all policies together do."""
    real = [match.real[0] for match in matches]
    shares = {
        name: sum(getattr(outcome, name) for outcome in real) / len(real) for name in CRITERIA
    }
    return [
        ObjectOutcome(*(place < shares[name] for name in CRITERIA)) for place in _places(matches)
    ]


def shuffled_policies(matches: Sequence[Match]) -> list[ObjectOutcome]:
    """Every policy fares as the next one really does, start by start."""
    by_policy: dict[int, list[ObjectOutcome]] = {}
    for match in matches:
        by_policy.setdefault(match.policy, []).append(match.real[0])
    order = list(by_policy)
    after = dict(zip(order, order[1:] + order[:1], strict=True))
    counted = dict.fromkeys(order, 0)
    outcomes = []
    for match in matches:
        others = by_policy[after[match.policy]]
        outcomes.append(others[counted[match.policy] % len(others)])
        counted[match.policy] += 1
    return outcomes


def _places(matches: Sequence[Match]) -> list[float]:
    """Where each match stands among those of its policy, from 0 to 1."""
    counts: dict[int, int] = {}
    for match in matches:
        counts[match.policy] = counts.get(match.policy, 0) + 1
    counted = dict.fromkeys(counts, 0)
    places = []
    for match in matches:
        places.append((counted[match.policy] + 0.5) / counts[match.policy])
        counted[match.policy] += 1
    return places

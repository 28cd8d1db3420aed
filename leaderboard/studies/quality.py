"""Who rates with care: gold items, attention checks, speed, agreement, by a rule fixed before the
study opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import comb
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class ExclusionRule:
    """When a rater is left out of the result that excludes.

    `luck` is how likely somebody who clicks at random may be to pass by chance for the misses to
    count against them.
    """

    attention_missed: int = 2
    gold_share: float = 0.6
    luck: float = 0.05
    fastest: float = 0.25
    agreement: float = 0.1

    def as_row(self) -> dict[str, float]:
        """The rule as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """One answer to a question whose right answer is known."""

    kind: str
    right: bool


@dataclass(frozen=True, slots=True)
class Quality:
    """What is known of one rater's care, and why they are left out, if they are."""

    rater: str
    items: int
    gold_right: int
    gold: int
    attention_missed: int
    seconds: float | None
    agreement: float | None
    left_out: str


def quality(
    rater: str,
    checks: Sequence[GoldAnswer],
    seconds: Sequence[float],
    everybody: float | None,
    agreement: float | None,
    rule: ExclusionRule,
) -> Quality:
    """Hold one rater against the rule. `everybody` is the median time of all raters, `agreement`
    with the others."""
    gold = [check for check in checks if check.kind == "gold"]
    right = sum(check.right for check in gold)
    missed = sum(not check.right for check in checks if check.kind == "attention")
    own = median(seconds) if seconds else None
    why = _why(gold, right, missed, own, everybody, agreement, rule)
    return Quality(rater, len(seconds), right, len(gold), missed, own, agreement, why)


def _why(
    gold: Sequence[GoldAnswer],
    right: int,
    missed: int,
    own: float | None,
    everybody: float | None,
    agreement: float | None,
    rule: ExclusionRule,
) -> str:
    if missed >= rule.attention_missed:
        return f"{missed} attention checks missed"
    if gold and right / len(gold) < rule.gold_share and not _could_be_careful(gold, right, rule):
        return f"{right} of {len(gold)} gold answers right"
    if own is not None and everybody and own < rule.fastest * everybody:
        return f"answers in {own:.0f} s where the median is {everybody:.0f} s"
    if agreement is not None and agreement < rule.agreement:
        return f"agreement with the others {agreement:.2f}"
    return ""


def _could_be_careful(gold: Sequence[GoldAnswer], right: int, rule: ExclusionRule) -> bool:
    """Whether somebody who is right nine times in ten would do as badly as this more often than
    `luck`."""
    n = len(gold)
    return sum(comb(n, k) * 0.9**k * 0.1 ** (n - k) for k in range(right + 1)) > rule.luck


def checks_of(
    kind: str, expected: Mapping[str, Any], answers: Mapping[str, Any]
) -> list[GoldAnswer]:
    """One check a question of a gold item; an attention item is one check as a whole, so that one
    slip is one miss."""
    right = [answers.get(name) == value for name, value in expected.items()]
    return (
        [GoldAnswer(kind, all(right))]
        if kind == "attention"
        else [GoldAnswer(kind, is_right) for is_right in right]
    )

"""Which frames an evaluator sees, and how many questions of each kind it is trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite
from typing import Literal

import numpy as np

Policy = Literal["first_n", "uniform_n"]

ROUNDING = Fraction(1, 10**9)
"""How far weights may miss 1 for having been written as decimals."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many questions of a format a task gets."""

    task: str
    format: str
    count: int

    @property
    def key(self) -> str:
        """The share's name, by which ties are settled."""
        return f"{self.task}/{self.format}"


def choose_frames(length: int, n: int, policy: Policy) -> tuple[int, ...]:
    """Choose n frames of a clip, or all if it has fewer: the first ones, or evenly from first to
    last.

    >>> choose_frames(14, 4, "uniform_n"), choose_frames(3, 8, "first_n")
    ((0, 4, 9, 13), (0, 1, 2))
    """
    if length < 0 or n < 0:
        raise ValueError(
            f"The clip has {length} frames and {n} are wanted. Give numbers from 0 up."
        )
    if policy not in ("first_n", "uniform_n"):
        raise ValueError(f"The sampling policy is {policy!r}. Give 'first_n' or 'uniform_n'.")
    count = min(n, length)
    if policy == "first_n":
        return tuple(range(count))
    return tuple(floor(place + 0.5) for place in np.linspace(0, length - 1, count).tolist())


def allocate(n: int, tasks: Mapping[str, float], formats: Mapping[str, float]) -> tuple[Share, ...]:
    """Divide n by task weight times format weight, what is left going to the largest remainders,
    then by name.

    >>> shares = allocate(3, {"AR": 0.5, "CR": 0.5}, {"binary": 0.8, "open": 0.2})
    >>> [(share.key, share.count) for share in shares]
    [('AR/binary', 1), ('AR/open', 1), ('CR/binary', 1), ('CR/open', 0)]
    """
    if n < 0:
        raise ValueError(f"{n} questions are to be divided. Give a number from 0 up.")
    alpha, beta = _weights("task", tasks), _weights("format", formats)
    exact = {
        Share(t, f, floor(n * a * b)): n * a * b for t, a in alpha.items() for f, b in beta.items()
    }
    left = n - sum(share.count for share in exact)
    by_remainder = sorted(exact, key=lambda share: (share.count - exact[share], share.key))
    raised = set(by_remainder[:left])
    return tuple(Share(s.task, s.format, s.count + (s in raised)) for s in exact)


def _weights(name: str, weights: Mapping[str, float]) -> dict[str, Fraction]:
    """Read the weights as the decimals they were written as, so that 0.8 is four fifths."""
    for key, weight in weights.items():
        if not isfinite(weight) or weight < 0:
            raise ValueError(
                f"The {name} weight of {key!r} is {weight}. Give a number from 0 to 1."
            )
    exact = {key: Fraction(str(weight)) for key, weight in weights.items()}
    total = sum(exact.values(), Fraction(0))
    if abs(total - 1) > ROUNDING:
        raise ValueError(
            f"The {name} weights add up to {float(total)}. Give weights that add up to 1."
        )
    return {key: weight / total for key, weight in exact.items()}

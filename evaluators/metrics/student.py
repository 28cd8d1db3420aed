"""Student's t, without which few clusters look surer than they are."""

from __future__ import annotations

from functools import lru_cache
from math import atan2, pi, sqrt

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=4096)
def student(freedom: int, level: float) -> float:
    """Give the t that Student's variable stays within, on both sides, with this probability.

    >>> student(6, 0.95)
    2.446912
    """
    return float(students(freedom, np.array([level]))[0])


def students(freedom: int, levels: Floats) -> Floats:
    """Give Student's t for many probabilities at once.

    >>> students(79, np.array([0.95, 0.999999])).tolist()
    [1.99045, 5.305452]
    """
    angle, mass = _angles(freedom)
    # Six decimals, so that the last bit of a machine's cosine does not show.
    found: Floats = np.round(sqrt(freedom) * np.tan(np.interp(levels, mass, angle)), 6)
    return found


def outside(freedom: int, t: float) -> float:
    """Give the probability that Student's variable is as far from zero as this, on either side.

    >>> round(outside(6, 2.446912), 4), outside(6, 0.0)
    (0.05, 1.0)
    """
    angle, mass = _angles(freedom)
    return float(1 - np.interp(atan2(abs(t), sqrt(freedom)), angle, mass))


@lru_cache(maxsize=16)
def _angles(freedom: int) -> tuple[Floats, Floats]:
    """Student's t is sqrt(freedom) times the tangent of an angle whose density is a power of the cosine."""
    angle = np.linspace(0.0, pi / 2, 50_001)
    density = np.cos(angle) ** (freedom - 1)
    mass = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return angle, mass / mass[-1]

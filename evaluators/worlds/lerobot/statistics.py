"""The figures that LeRobot keeps of each column, an episode at a time and of all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
PICTURES = 32
"""So many frames of an episode tell how bright it is."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Of one column: least, greatest, mean, deviation, quantiles, and over how many rows."""

    minimum: Floats
    maximum: Floats
    mean: Floats
    std: Floats
    quantiles: Mapping[str, Floats]
    count: int

    def as_lists(self) -> dict[str, list[object]]:
        """In LeRobot's names."""
        arrays = {"min": self.minimum, "max": self.maximum, "mean": self.mean, "std": self.std}
        listed = {name: array.tolist() for name, array in {**arrays, **self.quantiles}.items()}
        return {**listed, "count": [self.count]}


def of_rows(rows: npt.NDArray[np.generic]) -> ColumnStatistics:
    """Statistics of a column with one row a frame.

    >>> of_rows(np.array([[0.0], [2.0]])).mean.tolist()
    [1.0]
    """
    values = np.asarray(rows, np.float64).reshape(len(rows), -1)
    return _summary(values, (-1,), len(rows))


def of_pictures(frames: npt.NDArray[np.uint8]) -> ColumnStatistics:
    """Statistics of a camera: colours from 0 to 1, shaped [3, 1, 1] as LeRobot has them."""
    chosen = np.linspace(0, len(frames) - 1, min(PICTURES, len(frames))).astype(int)
    values = frames[chosen].reshape(-1, 3).astype(np.float64) / 255
    return _summary(values, (3, 1, 1), len(chosen))


def together(parts: Sequence[ColumnStatistics]) -> ColumnStatistics:
    """Statistics over all rows from those of episodes; quantiles are means weighted by rows, as
    LeRobot has them."""
    weights = np.array([part.count for part in parts], np.float64)
    weights /= weights.sum()

    def weighted(arrays: Sequence[Floats]) -> Floats:
        return np.tensordot(weights, np.stack(arrays), axes=1)

    mean = weighted([part.mean for part in parts])
    variance = weighted([part.std**2 + (part.mean - mean) ** 2 for part in parts])
    return ColumnStatistics(
        np.min([part.minimum for part in parts], axis=0),
        np.max([part.maximum for part in parts], axis=0),
        mean,
        np.sqrt(variance),
        {name: weighted([part.quantiles[name] for part in parts]) for name in QUANTILES},
        sum(part.count for part in parts),
    )


def _summary(values: Floats, shape: tuple[int, ...], count: int) -> ColumnStatistics:
    return ColumnStatistics(
        values.min(0).reshape(shape),
        values.max(0).reshape(shape),
        values.mean(0).reshape(shape),
        values.std(0).reshape(shape),
        {name: np.quantile(values, q, axis=0).reshape(shape) for name, q in QUANTILES.items()},
        count,
    )

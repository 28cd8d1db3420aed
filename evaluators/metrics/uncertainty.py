"""SC3-Eval's uncertainty of a rollout: how far recovered actions are from commanded ones, and when
to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.metrics.means import mean

ROUNDING = 1e-12
"""Relative room above tau, so that rounding in the norm does not turn equality into a stop."""

Actions = Sequence[Sequence[float]] | npt.NDArray[np.floating]
"""One row a step, one column a dimension."""


@dataclass(frozen=True, slots=True)
class ActionChunk:
    """The actions that were asked for and those that inverse dynamics reads off the generated
    frames."""

    commanded: Actions
    recovered: Actions


@dataclass(frozen=True, slots=True)
class Termination:
    """The uncertainty of each chunk up to the stop, and what is kept before it."""

    u_chunk: tuple[float, ...]
    stopped_at: int | None
    kept_chunks: int
    kept_frames: int

    @property
    def terminated(self) -> bool:
        """Whether the rollout was stopped."""
        return self.stopped_at is not None


def chunk_uncertainty(chunk: ActionChunk, horizon: int) -> float:
    """Average the distance between commanded and recovered actions over the steps that are
    executed.

    >>> commanded, recovered = [[0.0, 0.0], [0.0, 0.0], [9.0, 9.0]], [[3.0, 4.0], [0.0, 0.0]]
    >>> chunk_uncertainty(ActionChunk(commanded, recovered), horizon=2)
    2.5
    """
    steps = _n_steps(chunk, horizon)
    commanded = np.asarray(chunk.commanded[:steps], dtype=np.float64)
    recovered = np.asarray(chunk.recovered[:steps], dtype=np.float64)
    if commanded.ndim != 2 or commanded.shape != recovered.shape:
        raise ValueError(
            f"The commanded actions have shape {commanded.shape}, the recovered {recovered.shape}. "
            "Give both as steps by dimensions, with the same dimensions."
        )
    distance = mean(np.linalg.norm(commanded - recovered, axis=1).tolist())
    if distance is None or not np.isfinite(distance):
        raise ValueError(f"The uncertainty of the chunk is {distance}. Give finite actions.")
    return distance


def exceeds(uncertainty: float, tau: float | None) -> bool:
    """Tell whether a chunk must be discarded; at tau it is kept, and without a tau every chunk is.

    >>> exceeds(0.03, 0.02), exceeds(0.02, 0.02), exceeds(9.0, None)
    (True, False, False)
    """
    return tau is not None and uncertainty > tau * (1 + ROUNDING)


def terminate(chunks: Sequence[ActionChunk], tau: float | None, horizon: int) -> Termination:
    """Keep the chunks before the first whose uncertainty exceeds tau.

    >>> good, bad = ActionChunk([[0.0]], [[0.0]]), ActionChunk([[0.0]], [[1.0]])
    >>> terminate([good, bad, good], tau=0.5, horizon=1)
    Termination(u_chunk=(0.0, 1.0), stopped_at=1, kept_chunks=1, kept_frames=1)
    """
    uncertainties: list[float] = []
    frames = 0
    for index, chunk in enumerate(chunks):
        uncertainties.append(chunk_uncertainty(chunk, horizon))
        if exceeds(uncertainties[-1], tau):
            return Termination(tuple(uncertainties), index, index, frames)
        frames += _n_steps(chunk, horizon)
    return Termination(tuple(uncertainties), None, len(uncertainties), frames)


def _n_steps(chunk: ActionChunk, horizon: int) -> int:
    """Count the executed steps; the last chunk of a rollout may be cut short of the horizon."""
    steps = min(horizon, len(chunk.commanded), len(chunk.recovered))
    if steps < 1:
        raise ValueError(
            f"The chunk has {len(chunk.commanded)} commanded and {len(chunk.recovered)} recovered "
            "steps, "
            f"the horizon is {horizon}. Give at least one of each."
        )
    return steps

"""Early termination after the fact: cutting rollouts where U exceeds tau, choosing tau, and a
placebo beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evaluators.metrics.uncertainty import exceeds
from evaluators.suites.sc3.rollouts.trajectories import Trajectory

QUANTILES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)


def cut(trajectory: Trajectory, tau: float | None, execute: int) -> Trajectory:
    """The rollout as it would have been with this tau: what came before the first chunk that
    exceeds it."""
    for number, u in enumerate(trajectory.u_chunk):
        if exceeds(float(u), tau):
            return replace(_stopped(trajectory, number, execute), tau=tau)
    return replace(trajectory, tau=tau)


def stops(trajectories: Sequence[Trajectory], tau: float | None) -> list[int]:
    """The chunks at which rollouts stop."""
    exceeding = (
        [n for n, u in enumerate(trajectory.u_chunk) if exceeds(float(u), tau)]
        for trajectory in trajectories
    )
    return [chunks[0] for chunks in exceeding if chunks]


def random_stops(
    trajectories: Sequence[Trajectory], chunks: Sequence[int], execute: int, seed: int
) -> list[Trajectory]:
    """The placebo: as many rollouts stopped at the same chunks, chosen by chance."""
    order = np.random.default_rng(seed).permutation(len(trajectories))
    chosen = dict(zip((int(number) for number in order), chunks, strict=False))
    return [
        _stopped(trajectory, chosen[number], execute) if number in chosen else trajectory
        for number, trajectory in enumerate(trajectories)
    ]


def tune(
    held_out: Sequence[Trajectory],
    pearson: Callable[[Sequence[Trajectory]], float | None],
    execute: int,
) -> float | None:
    """Of some quantiles of U and of never stopping, the tau with the best r on other starts; of
    equals the larger."""
    us = [float(u) for trajectory in held_out for u in trajectory.u_chunk]
    if not us:
        return None
    best, chosen = pearson(held_out), None
    for quantile in sorted(QUANTILES, reverse=True):
        tau = float(np.quantile(us, quantile))
        correlation = pearson([cut(trajectory, tau, execute) for trajectory in held_out])
        if correlation is not None and (best is None or correlation > best + 1e-12):
            best, chosen = correlation, tau
    return chosen


def _stopped(trajectory: Trajectory, chunk: int, execute: int) -> Trajectory:
    steps = min(chunk * execute, trajectory.steps)
    return replace(
        trajectory,
        frames=trajectory.frames[:, : steps + 1],
        actions=trajectory.actions[:steps],
        recovered=trajectory.recovered[: chunk + 1],
        u_chunk=trajectory.u_chunk[: chunk + 1],
        terminated_at=chunk,
    )

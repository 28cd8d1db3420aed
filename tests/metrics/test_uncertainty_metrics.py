"""What holds of a rollout's uncertainty and of where it stops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import euclidean  # type: ignore[import-untyped, unused-ignore]

from evaluators.metrics.uncertainty import ActionChunk, chunk_uncertainty, terminate


def off_by(error: float, steps: int = 4) -> ActionChunk:
    return ActionChunk([[0.0] * 7] * steps, [[error] + [0.0] * 6] * steps)


CHUNKS = st.lists(st.integers(0, 10).map(lambda tenths: off_by(tenths / 10)), max_size=8)


@pytest.mark.parametrize("seed", range(10))
def test_uncertainty_is_the_mean_euclidean_distance_of_the_executed_steps(seed: int) -> None:
    random = np.random.default_rng(seed)
    commanded, recovered = random.normal(size=(24, 7)), random.normal(size=(16, 7))

    uncertainty = chunk_uncertainty(ActionChunk(commanded, recovered), horizon=16)

    distances = [euclidean(a, b) for a, b in zip(commanded[:16], recovered, strict=True)]
    assert uncertainty == pytest.approx(np.mean(distances), abs=1e-12)


@given(CHUNKS, st.integers(0, 10).map(lambda tenths: tenths / 10))
def test_all_chunks_before_the_stop_are_within_tau_and_the_stop_is_not(
    chunks: list[ActionChunk], tau: float
) -> None:
    result = terminate(chunks, tau, horizon=4)

    assert all(u <= tau + 1e-9 for u in result.u_chunk[: result.kept_chunks])
    assert result.kept_frames == 4 * result.kept_chunks
    if result.terminated:
        assert result.stopped_at == result.kept_chunks == len(result.u_chunk) - 1
        assert result.u_chunk[-1] > tau
    else:
        assert result.kept_chunks == len(chunks)


@given(CHUNKS)
def test_without_a_tau_nothing_stops(chunks: list[ActionChunk]) -> None:
    result = terminate(chunks, None, horizon=4)

    assert (result.terminated, result.kept_chunks, len(result.u_chunk)) == (
        False,
        len(chunks),
        len(chunks),
    )


@pytest.mark.parametrize("tau", [0.25, 0.1, 0.02, 0.05])
def test_an_uncertainty_equal_to_tau_does_not_stop(tau: float) -> None:
    shifted = ActionChunk([[0.7]] * 3, [[0.7 + tau]] * 3)

    result = terminate([off_by(tau, steps=3), shifted], tau, horizon=3)

    assert not result.terminated


def test_a_last_chunk_cut_short_keeps_the_frames_it_has() -> None:
    result = terminate([off_by(0.0, steps=16), off_by(0.0, steps=8)], 0.02, horizon=16)

    assert (result.kept_chunks, result.kept_frames) == (2, 24)


def test_a_rollout_without_chunks_keeps_nothing_and_does_not_stop() -> None:
    result = terminate([], 0.02, horizon=16)

    assert (result.u_chunk, result.terminated, result.kept_frames) == ((), False, 0)


def test_a_chunk_without_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="0 recovered steps"):
        chunk_uncertainty(ActionChunk([[0.0]], []), horizon=1)


def test_actions_of_different_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        chunk_uncertainty(ActionChunk([[0.0, 0.0]], [[0.0]]), horizon=1)


def test_actions_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="is nan"):
        chunk_uncertainty(ActionChunk([[float("nan")]], [[0.0]]), horizon=1)

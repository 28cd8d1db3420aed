"""What holds of PSNR, and that it is the textbook formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.image import Frames, psnr


def frames(seed: int, *shape: int) -> Frames:
    return np.random.default_rng(seed).integers(0, 256, size=shape, dtype=np.uint8)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_each_frame_has_the_textbook_value_and_the_rollout_their_mean(seed: int, n: int) -> None:
    real, made = frames(seed, n, 3, 4, 3), frames(seed + 1, n, 3, 4, 3)
    errors = ((real.astype(float) - made.astype(float)) ** 2).mean(axis=(1, 2, 3))
    textbook = 20 * np.log10(255) - 10 * np.log10(errors)

    result = psnr(reference=real, generated=made)

    assert list(result.frames) == pytest.approx(textbook.tolist())
    assert result.value == pytest.approx(textbook.mean())
    assert result.pooled == pytest.approx(20 * np.log10(255) - 10 * np.log10(errors.mean()))


def test_views_and_frames_are_averaged_alike() -> None:
    real, made = frames(0, 3, 5, 4, 4, 3), frames(1, 3, 5, 4, 4, 3)

    by_view = psnr(reference=real, generated=made)
    flat = psnr(reference=real.reshape(15, 4, 4, 3), generated=made.reshape(15, 4, 4, 3))

    assert by_view == flat
    assert len(by_view.frames) == 15


@given(st.integers(0, 10**6))
def test_psnr_is_symmetric(seed: int) -> None:
    one, other = frames(seed, 2, 3, 3, 3), frames(seed + 1, 2, 3, 3, 3)

    assert psnr(reference=one, generated=other) == psnr(reference=other, generated=one)


def test_differences_do_not_wrap_around() -> None:
    black, white = (
        np.zeros((1, 2, 2, 3), dtype=np.uint8),
        np.full((1, 2, 2, 3), 255, dtype=np.uint8),
    )

    assert psnr(reference=black, generated=white).value == 0.0


def test_a_nearly_identical_frame_is_worth_no_more_than_an_identical_one() -> None:
    real = np.zeros((1, 300, 400, 3), dtype=np.uint8)
    made = real.copy()
    made[0, 0, 0, 0] = 1

    result = psnr(reference=real, generated=made)

    assert (result.value, result.frames_capped) == (100.0, (100.0,))
    assert result.frames[0] is not None
    assert result.frames[0] > 100


def test_no_frames_are_no_value_rather_than_zero() -> None:
    nothing = np.zeros((0, 2, 2, 3), dtype=np.uint8)

    result = psnr(reference=nothing, generated=nothing)

    assert (result.value, result.frames, result.pooled) == (None, (), None)


def test_frames_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="Resize"):
        psnr(reference=frames(0, 1, 2, 2, 3), generated=frames(0, 1, 2, 3, 3))


def test_frames_without_an_rgb_axis_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2, 3\)"):
        psnr(reference=frames(0, 2, 2, 3), generated=frames(0, 2, 2, 3))


def test_frames_that_are_not_bytes_are_refused() -> None:
    real = np.zeros((1, 2, 2, 3))

    with pytest.raises(ValueError, match="float64"):
        psnr(reference=real, generated=real)  # type: ignore[arg-type]

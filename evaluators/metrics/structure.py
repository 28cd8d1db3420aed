"""SSIM of generated frames against the real ones: how alike they are in light, contrast and
structure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluators.metrics.means import mean

Frames = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

WINDOW = 7
LIGHT, CONTRAST = (0.01 * 255) ** 2, (0.03 * 255) ** 2
GREY = np.array([0.299, 0.587, 0.114])


def ssim(*, reference: Frames, generated: Frames) -> float | None:
    """Average SSIM over 7 x 7 windows and frames, on grey values; axes are time, height, width,
    RGB; None of no frames.

    >>> frames = np.random.default_rng(0).integers(0, 256, (2, 16, 16, 3), dtype=np.uint8)
    >>> ssim(reference=frames, generated=frames)
    1.0
    """
    if reference.shape != generated.shape or reference.ndim != 4 or reference.shape[-1] != 3:
        raise ValueError(
            f"The frames are {reference.shape} and {generated.shape}. Give (frames, h, w, 3) twice."
        )
    if min(reference.shape[1:3]) < WINDOW:
        raise ValueError(
            f"The frames are {reference.shape[1:3]}. Give at least {WINDOW} x {WINDOW} pixels."
        )
    return mean(
        [_frame(real @ GREY, fake @ GREY) for real, fake in zip(reference, generated, strict=True)]
    )


def _frame(real: Floats, fake: Floats) -> float:
    a, b = _windows(real), _windows(fake)
    freedom = WINDOW**2 / (WINDOW**2 - 1)
    spread_a, spread_b = (freedom * (_windows(x * x) - m * m) for x, m in ((real, a), (fake, b)))
    shared = freedom * (_windows(real * fake) - a * b)
    alike = (2 * a * b + LIGHT) * (2 * shared + CONTRAST)
    return float(np.mean(alike / ((a * a + b * b + LIGHT) * (spread_a + spread_b + CONTRAST))))


def _windows(values: Floats) -> Floats:
    """The mean of every whole window, by sums along both axes."""
    sums = np.pad(values, ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    size = WINDOW
    window_sums: Floats = (
        sums[size:, size:] - sums[:-size, size:] - sums[size:, :-size] + sums[:-size, :-size]
    )
    return window_sums / size**2

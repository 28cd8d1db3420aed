"""PSNR of generated frames against the real ones, and the Fréchet distance between features of
both, as FVD and FID take it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

import numpy as np
import numpy.typing as npt

from evaluators.metrics.means import mean

PEAK = 255
CAP_DB = 100.0

Frames = npt.NDArray[np.uint8]
Features = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Psnr:
    """A rollout's mean PSNR in dB, each frame's (None where infinite), and that of all pixels
    pooled."""

    value: float | None
    frames: tuple[float | None, ...]
    frames_capped: tuple[float, ...]
    pooled: float | None


def psnr(*, reference: Frames, generated: Frames) -> Psnr:
    """Average the frames' PSNR, at most 100 dB each; axes are any of view and time, then height,
    width, RGB.

    >>> black = np.zeros((1, 2, 2, 3), dtype=np.uint8)
    >>> round(psnr(reference=black, generated=black + np.uint8(1)).value, 4)
    48.1308
    >>> psnr(reference=black, generated=black)
    Psnr(value=100.0, frames=(None,), frames_capped=(100.0,), pooled=None)
    """
    _check(reference, generated)
    pairs = zip(_flat(reference), _flat(generated), strict=True)
    errors = [_squared_error(real, fake) for real, fake in pairs]
    frames = tuple(_decibel(error) for error in errors)
    capped = tuple(CAP_DB if frame is None else min(frame, CAP_DB) for frame in frames)
    pooled = mean(errors)
    return Psnr(mean(capped), frames, capped, None if pooled is None else _decibel(pooled))


def _check(reference: Frames, generated: Frames) -> None:
    for name, frames in (("reference", reference), ("generated", generated)):
        if frames.dtype != np.uint8:
            raise ValueError(f"The {name} frames are {frames.dtype}. Give uint8 from 0 to 255.")
        if frames.ndim < 4 or frames.shape[-1] != 3:
            raise ValueError(
                f"The {name} frames have shape {frames.shape}. Give (..., frames, height, width, "
                "3)."
            )
    if reference.shape != generated.shape:
        raise ValueError(
            f"The reference has shape {reference.shape}, the generated frames {generated.shape}. "
            "Resize and cut the generated ones to the reference first."
        )


def _flat(frames: Frames) -> Frames:
    return frames.reshape(int(np.prod(frames.shape[:-3])), *frames.shape[-3:])


def _squared_error(reference: Frames, generated: Frames) -> float:
    difference = reference.astype(np.int32) - generated.astype(np.int32)
    return float(np.mean(np.square(difference)))


def _decibel(squared_error: float) -> float | None:
    return 10 * log10(PEAK**2 / squared_error) if squared_error else None


def frechet(*, real: Features, generated: Features) -> float | None:
    """The squared distance of the normal distributions that fit features [n, width] best; None of
    fewer than two rows on either side.

    The trace of the root of both covariances is the sum of the singular values between the centred
    rows, so that no square matrix of the features' width is ever needed.

    >>> rows = np.random.default_rng(0).normal(size=(50, 4))
    >>> round(abs(frechet(real=rows, generated=rows)), 9)
    0.0
    >>> round(frechet(real=rows, generated=rows + 3.0), 6)
    36.0
    """
    if real.ndim != 2 or generated.ndim != 2 or real.shape[1] != generated.shape[1]:
        raise ValueError(
            f"The features are {real.shape} and {generated.shape}. Give (rows, width) twice."
        )
    if min(len(real), len(generated)) < 2:
        return None
    a, b = (_centred(rows) for rows in (real, generated))
    apart = np.square(real.mean(0, dtype=np.float64) - generated.mean(0, dtype=np.float64)).sum()
    shared = np.linalg.svd(a @ b.T, compute_uv=False).sum()
    return max(0.0, float(apart + np.square(a).sum() + np.square(b).sum() - 2 * shared))


def _centred(rows: Features) -> npt.NDArray[np.float64]:
    """Rows whose product with themselves is their covariance."""
    wide = rows.astype(np.float64)
    return np.asarray((wide - wide.mean(0)) / np.sqrt(len(rows) - 1))

"""A rollout against what really follows in the game: how near its frames are, and whether a frozen
picture would have been nearer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.image import psnr
from evaluators.metrics.structure import ssim
from evaluators.suites.universe.boards.worlds.bank import RolloutStart
from evaluators.suites.universe.boards.worlds.showings import resized

COMPARED = (50, 30)
"""Width and height that frames are compared in: where things are counts, not how sharp they are, so
that a small world is not blamed for its size."""
EARLY = 4
"""The first frames, in which a button has hardly had time to show."""
LATE = 7
"""The last frames, in which it has: until something is pressed a frozen picture is right."""


@dataclass(frozen=True, slots=True)
class Fidelity:
    """PSNR over all frames and the first ones in dB, SSIM, and by how much PSNR over the last ones
    is above that of the last given frame, which a world that does nothing would show."""

    psnr: float
    psnr_early: float
    ssim: float
    gain: float


def fidelity_of(frames: Pixels, start: RolloutStart) -> Fidelity:
    """Compare a rollout with the game, frame by frame."""
    made, real = resized(frames, COMPARED), resized(start.truth, COMPARED)
    still = np.repeat(resized(start.context[-1:], COMPARED), LATE, axis=0)
    return Fidelity(
        psnr=_psnr(real, made),
        psnr_early=_psnr(real[:EARLY], made[:EARLY]),
        ssim=float(ssim(reference=real, generated=made) or 0.0),
        gain=_psnr(real[-LATE:], made[-LATE:]) - _psnr(real[-LATE:], still),
    )


def _psnr(real: Pixels, made: Pixels) -> float:
    value = psnr(reference=real, generated=made).value
    assert value is not None
    return value

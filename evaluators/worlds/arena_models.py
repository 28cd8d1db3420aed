"""World models made from the arena itself: the simulator as a ceiling, and a degraded one with a dial."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluators.worlds import arena


@dataclass(frozen=True, slots=True)
class Simulator:
    """The arena as a world model: it knows the play, so that what it generates is the truth."""

    play: arena.Play
    name: str = "simulator"

    def rollout(self, o_initial: arena.Frames, a_seq: arena.Floats, timesteps: int) -> arena.Frames:
        """What really follows the first frames."""
        _check(o_initial, a_seq, timesteps)
        _, height, width, _ = o_initial.shape
        times = (len(o_initial) + np.arange(timesteps)) / arena.CLIP_FPS
        return arena.render(self.play, times, (width, height))


@dataclass(frozen=True, slots=True)
class Degraded:
    """The simulator made worse by a dial from 0 to 1: colours drift, detail goes, and the look changes over time."""

    play: arena.Play
    dial: float
    name: str = "degraded simulator"

    def rollout(self, o_initial: arena.Frames, a_seq: arena.Floats, timesteps: int) -> arena.Frames:
        """What really follows, ever further from it."""
        if not 0 <= self.dial <= 1:
            raise ValueError(f"The dial is {self.dial}. Give a number from 0 (the simulator) to 1 (unreadable).")
        frames = Simulator(self.play).rollout(o_initial, a_seq, timesteps)
        share = self.dial * np.arange(1, timesteps + 1) / timesteps
        return np.stack([_worse(frame, float(by), self.dial) for frame, by in zip(frames, share, strict=True)])


def _worse(frame: arena.Frames, by: float, dial: float) -> arena.Frames:
    """Coarser by the dial from the first frame on; colours turn towards grey and one another as time goes."""
    from PIL import Image

    height, width, _ = frame.shape
    coarse = max(1, round(1 + 7 * dial))
    small = Image.fromarray(frame).resize((max(1, width // coarse), max(1, height // coarse)), Image.Resampling.BOX)
    shown = np.asarray(small.resize((width, height), Image.Resampling.BILINEAR), dtype=float)
    turned = (1 - by) * shown + by * shown[..., [1, 2, 0]]
    faded = turned + 0.5 * by * (turned.mean() - turned)
    worse: arena.Frames = np.clip(np.round(faded), 0, 255).astype(np.uint8)
    return worse


def _check(o_initial: arena.Frames, a_seq: arena.Floats, timesteps: int) -> None:
    if o_initial.ndim != 4 or o_initial.shape[-1] != 3 or not len(o_initial):
        raise ValueError(f"The first frames have shape {o_initial.shape}. Give (frames, height, width, 3).")
    if len(a_seq) < timesteps:
        raise ValueError(f"The controller has {len(a_seq)} rows for {timesteps} frames. Give one a frame.")

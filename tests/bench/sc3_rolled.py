"""Rollouts of the SC3 experiment as what was read off them: the criteria at the end and at every
place where a rollout could have been stopped, U, PSNR; no frames are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.contracts import Sample
from evaluators.contracts.world_model import World
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.metrics.uncertainty import exceeds
from evaluators.models.robots.annotator import EVERY, shipped_annotator
from evaluators.models.video_world.codec import Frames, VideoCodec, decode_film, encode_film
from evaluators.suites.sc3.agreement import Match
from evaluators.suites.sc3.producing import roll_out
from evaluators.suites.sc3.reading import table_likeness
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, Trajectory
from evaluators.suites.sc3.samples import recording_of, start_of, truth_of
from evaluators.suites.sc3.table_bench import CONFIG

Flags = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class RolledStart:
    """One rollout: `held` are the criteria after no chunk, one chunk and so on to the end, of which
    an offline rollout has only the last."""

    start: str
    policy: int
    split: str
    mode: str
    real: Flags
    held: tuple[Flags, ...]
    u_chunk: tuple[float, ...] = ()
    psnr: float | None = None

    def match(self, stopped_at: int | None = None) -> Match:
        """What held beside what really did, the rollout stopped before a chunk or run to its
        end."""
        held = self.held[-1 if stopped_at is None else stopped_at]
        real, rolled = ((ObjectOutcome(*flags),) for flags in (self.real, held))
        return Match(self.start, self.policy, self.split, real, rolled)

    def stop(self, tau: float | None) -> int | None:
        """The first chunk that exceeds tau."""
        return next((n for n, u in enumerate(self.u_chunk) if exceeds(u, tau)), None)


def rolled(world: World, samples: Sequence[Sample], batch: int = 7) -> Iterator[RolledStart]:
    """Every sample inside a world, never stopped."""
    for first in range(0, len(samples), batch):
        part = samples[first : first + batch]
        for sample, rollout in zip(part, roll_out(world, part), strict=True):
            yield read_rollout(sample, rollout)


def read_rollout(sample: Sample, rollout: Trajectory) -> RolledStart:
    """What the board's annotator sees in it, at each chunk where it could have been stopped."""
    online = rollout.source == "online"
    chunks = range(len(rollout.u_chunk)) if online else ()
    shown = rollout.frames[:, ::EVERY]
    counts = [*(chunk * CONFIG.execute // EVERY + 1 for chunk in chunks), shown.shape[1]]
    held = shipped_annotator().read_as_it_goes(shown, sample.prompt, counts)
    psnr = None if online else table_likeness(rollout, recording_of(sample))["psnr"]
    return RolledStart(
        **_names(sample),  # type: ignore[arg-type]
        held=tuple(map(flags, held)),
        u_chunk=tuple(float(u) for u in rollout.u_chunk),
        psnr=None if psnr is None else float(str(psnr)),
    )


def through_codec(codec: VideoCodec, samples: Sequence[Sample]) -> Iterator[RolledStart]:
    """The real run as the codec paints it: what a perfect model behind this codec would show."""
    for sample in samples:
        real = recording_of(sample).kept_frames()
        yield _painted(sample, real, decode_film(codec, encode_film(codec, real)))


def standing_still(samples: Sequence[Sample]) -> Iterator[RolledStart]:
    """The first frame for ever."""
    for sample in samples:
        real = recording_of(sample).kept_frames()
        yield _painted(sample, real, np.repeat(real[:, :1], real.shape[1], axis=1))


def _painted(sample: Sample, real: Frames, shown: Frames) -> RolledStart:
    held = flags(shipped_annotator().read(shown, sample.prompt))
    return RolledStart(**_names(sample), held=(held,), psnr=_psnr(real, shown))  # type: ignore[arg-type]


def flags(outcome: ObjectOutcome) -> Flags:
    """The three criteria."""
    return tuple(bool(getattr(outcome, name)) for name in CRITERIA)


def _names(sample: Sample) -> dict[str, object]:
    return {
        "start": start_of(sample),
        "policy": sample.reference["policy"],
        "split": sample.facets.scenario,
        "mode": sample.facets.setting,
        "real": flags(truth_of(sample)),
    }


def _psnr(real: Frames, painted: Frames) -> float:
    error = np.square(real[:, 1:].astype(float) - painted[:, 1:]).mean((2, 3, 4)).clip(1e-6)
    return float((10 * np.log10(255**2 / error)).mean())

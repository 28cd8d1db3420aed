"""Recordings as a video world model learns from them: frames and actions, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from evaluators.models.video_world.codec import Frames, VideoCodec, encode_film
from evaluators.models.video_world.config import VideoWorldConfig
from evaluators.models.video_world.motion import film_flow
from evaluators.models.video_world.network import VideoClip

SHORT_CONTEXT = 0.4
"""The share of clips that begin as an episode does, with one known frame."""

ONWARD = 0.7
"""The share of pairs of moments that run with time."""

LEAST_SCALE = 0.1
"""Of the largest deviation of a number of an action."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One episode: frames uint8 [views, T + 1, height, width, RGB] and the actions float32 [T,
    width] between them."""

    frames: Frames
    actions: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VideoLessons:
    """Episodes as latents [views, T + 1, squares, numbers], normalised actions [T, width] and, by
    pace, optical flow [T + 1, views, numbers]."""

    latents: tuple[Tensor, ...]
    actions: tuple[Tensor, ...]
    flows: Mapping[int, tuple[Tensor, ...]]

    @classmethod
    def of(
        cls, recordings: Sequence[Recording], codec: VideoCodec, config: VideoWorldConfig
    ) -> VideoLessons:
        """Every recording encoded once."""
        latents = tuple(encode_film(codec, recording.frames) for recording in recordings)
        return cls(
            tuple(film.cpu() for film in latents),
            tuple(normalised(recording.actions, config) for recording in recordings),
            {
                pace: tuple(film_flow(codec, film, pace).cpu() for film in latents)
                for pace in config.paces
            },
        )

    def clips(
        self,
        config: VideoWorldConfig,
        count: int,
        horizon: int,
        pace: int,
        rng: np.random.Generator,
    ) -> VideoClip:
        """Clips from anywhere at one pace; ValueError if no recording is long enough."""
        span = horizon * pace
        long = [number for number, rows in enumerate(self.actions) if len(rows) >= span]
        if not long:
            raise ValueError(f"No recording has {span} actions. Record longer ones.")
        cuts = [self._cut(int(rng.choice(long)), config, horizon, pace, rng) for _ in range(count)]
        video, actions, flow = (torch.stack(parts) for parts in zip(*cuts, strict=True))
        return VideoClip(video, actions, torch.full((count,), pace), flow)

    def pairs(self, count: int, apart: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Latents [n, views, squares, numbers] of moments of one recording and of others up to so
        many frames after them or, more rarely, before them."""
        befores, afters = [], []
        for _ in range(count):
            film = self.latents[int(rng.integers(len(self.latents)))]
            between = int(rng.integers(1, min(apart, film.shape[1] - 1) + 1))
            first = int(rng.integers(film.shape[1] - between))
            ends = (first, first + between)
            before, after = ends if rng.random() < ONWARD else ends[::-1]
            befores.append(film[:, before])
            afters.append(film[:, after])
        return torch.stack(befores), torch.stack(afters)

    def _cut(
        self,
        number: int,
        config: VideoWorldConfig,
        horizon: int,
        pace: int,
        rng: np.random.Generator,
    ) -> tuple[Tensor, Tensor, Tensor]:
        latents, actions = self.latents[number], self.actions[number]
        now = int(rng.integers(0, len(actions) - horizon * pace + 1))
        shown_frames = 1 if rng.random() < SHORT_CONTEXT else config.context
        back = np.arange(1 - config.context, 1)
        frames = now + pace * np.arange(1 - config.context, horizon + 1)
        oldest = max(now % pace, now - pace * (shown_frames - 1))
        shown = latents[:, np.maximum(frames, oldest)]
        ahead = actions[now : now + horizon * pace].view(horizon, pace, -1).mean(1)
        past = torch.zeros(config.context, actions.shape[1])
        for row, frame in enumerate(now + pace * back):
            if frame - pace >= oldest:
                past[row] = actions[frame - pace : frame].mean(0)
        flow = self.flows[pace][number][np.maximum(frames, 0)]
        flow = torch.where(torch.from_numpy(frames > oldest)[:, None, None], flow, 0.0)
        return shown, torch.cat([past, ahead]), flow


def action_statistics(
    recordings: Sequence[Recording],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation of each number of an action; one that hardly changes is not blown up, and
    where none changes all keep their scale."""
    flat = np.concatenate([recording.actions for recording in recordings]).astype(np.float64)
    deviations = flat.std(0)
    scale = np.maximum(deviations, LEAST_SCALE * deviations.max())
    scale = np.where(scale > 1e-6, scale, 1.0)
    return tuple(map(float, flat.mean(0))), tuple(map(float, scale))


def normalised(actions: npt.NDArray[np.float32], config: VideoWorldConfig) -> Tensor:
    """Actions with zero mean and about unit variance over practice."""
    mean, scale = (np.array(row, np.float32) for row in (config.action_mean, config.action_scale))
    return torch.from_numpy((actions - mean) / scale)


def denormalised(actions: Tensor, config: VideoWorldConfig) -> npt.NDArray[np.float32]:
    """Actions as they are commanded."""
    rows = actions.cpu().numpy() * np.array(config.action_scale) + np.array(config.action_mean)
    return np.asarray(rows, np.float32)

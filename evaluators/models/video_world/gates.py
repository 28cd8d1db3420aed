"""What a video world model has to pass before anybody prints a table about it: each mode is
measured on recordings it never learned from, against what a dead mode would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evaluators.models.video_world.codec import decode_film
from evaluators.models.video_world.config import Mode
from evaluators.models.video_world.flow import noise_like, sample
from evaluators.models.video_world.folder import TrainedWorld
from evaluators.models.video_world.lessons import Recording, VideoLessons
from evaluators.models.video_world.network import VideoClip

R2, AUC, GAIN, CHANGE = 0.8, 0.95, 1.0, 0.1
"""Inverse: share of the motion's variance; shuffled video: how surely U tells it; cross-view: dB;
several steps: grey levels of mean difference from one."""


@dataclass(frozen=True, slots=True)
class GateReport:
    """What was measured: the inverse's R² over the numbers of the arm's motion together, as they
    are commanded (so that one which hardly moves the arm weighs as little), and of each number of
    an action, U of right and shuffled videos and the AUC between, PSNR of other views with one
    given and without, and how far several sampling steps differ from one."""

    clips: int
    inverse_r2: float
    inverse_r2_each: tuple[float, ...]
    u_right: float
    u_shuffled: float
    u_auc: float
    psnr_forward: float
    psnr_cross_view: float | None
    psnr_frozen: float
    steps_change: float

    @property
    def cross_view_gain(self) -> float | None:
        """What a given view brings the others, in dB; none with one view."""
        return None if self.psnr_cross_view is None else self.psnr_cross_view - self.psnr_forward

    @property
    def failed(self) -> tuple[str, ...]:
        """The gates that are not passed, each with its number."""
        gain = self.cross_view_gain
        checks = (
            (self.inverse_r2 > R2, f"inverse R² {self.inverse_r2:.3f}"),
            (self.u_auc > AUC, f"U's AUC {self.u_auc:.3f}"),
            (gain is None or gain > GAIN, f"cross-view gain {gain or 0.0:.2f} dB"),
            (self.steps_change > CHANGE, f"sampling steps change {self.steps_change:.2f} levels"),
        )
        return tuple(words for passed, words in checks if not passed)

    @property
    def proven(self) -> frozenset[Mode]:
        """The modes of which a table may speak."""
        gain = self.cross_view_gain
        passed: dict[Mode, bool] = {
            "forward": self.steps_change > CHANGE,
            "inverse": self.inverse_r2 > R2 and self.u_auc > AUC,
            "cross_view": gain is not None and gain > GAIN,
        }
        return frozenset(mode for mode, is_passed in passed.items() if is_passed)

    @property
    def verdict(self) -> str:
        """One line for a board."""
        return f"gates: failed {', '.join(self.failed)}" if self.failed else "gates: passed"

    def as_json(self) -> dict[str, object]:
        """For a file beside the model."""
        return {**asdict(self), "cross_view_gain": self.cross_view_gain, "verdict": self.verdict}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> GateReport:
        """A report out of its file."""
        words = {field.name: stored[field.name] for field in fields(cls)}
        return cls(**{**words, "inverse_r2_each": tuple(words["inverse_r2_each"])})


def measure_gates(
    model: TrainedWorld,
    recordings: Sequence[Recording],
    motion: Sequence[int],
    clips: int = 48,
    seed: int = 0,
) -> GateReport:
    """All gates on clips of held-out recordings, one known frame each as in a rollout's check;
    `motion` are the numbers of an action that move the arm (or the player)."""
    config = model.config
    lessons = VideoLessons.of(recordings, model.codec, config)
    rng = np.random.default_rng(seed)
    horizon = max(1, config.horizon // config.group * 2 // 3) * config.group
    clip = lessons.clips(config, clips, horizon, config.paces[0], rng)
    clip = _one_frame(clip, config.context)
    true, scale = clip.actions[:, config.context :], torch.tensor(config.action_scale)
    read = _actions(model, clip, seed)
    other = replace(clip, video=clip.video.roll(1, 0), flow=clip.flow.roll(1, 0))
    shuffled = _actions(model, other, seed)
    right, wrong = _u(true, read), _u(true, shuffled)
    forward, cross, frozen = _paintings(model, clip, seed)
    return GateReport(
        clips=clips,
        inverse_r2=_r2((true * scale)[..., list(motion)], (read * scale)[..., list(motion)]),
        inverse_r2_each=tuple(
            _r2(true[..., [number]], read[..., [number]]) for number in range(true.shape[-1])
        ),
        u_right=float(right.mean()),
        u_shuffled=float(wrong.mean()),
        u_auc=float((wrong[None] > right[:, None]).float().mean()),
        psnr_forward=forward,
        psnr_cross_view=cross,
        psnr_frozen=frozen,
        steps_change=_change(model, clip, seed),
    )


def _one_frame(clip: VideoClip, context: int) -> VideoClip:
    video, actions, flow = clip.video.clone(), clip.actions.clone(), clip.flow.clone()
    video[:, :, :context] = video[:, :, context - 1 : context]
    actions[:, :context] = 0
    flow[:, :context] = 0
    return VideoClip(video, actions, clip.pace, flow)


def _clean(clip: VideoClip, views: Sequence[int], actions: bool) -> Tensor:
    clean = torch.zeros(len(clip.video), clip.video.shape[1] + 1, dtype=torch.bool)
    clean[:, list(views)] = True
    clean[:, -1] = actions
    return clean


def _made(model: TrainedWorld, clip: VideoClip, clean: Tensor, steps: int, seed: int) -> VideoClip:
    """What the model makes of what is not clean; that is not shown to it."""
    noise = noise_like(clip, torch.Generator().manual_seed(seed))
    return sample(model.network, clip, clean, noise, steps)


def _actions(model: TrainedWorld, clip: VideoClip, seed: int) -> Tensor:
    config = model.config
    clean = _clean(clip, range(len(config.views)), actions=False)
    return _made(model, clip, clean, config.steps, seed).actions[:, config.context :]


def _u(commanded: Tensor, recovered: Tensor) -> Tensor:
    """U of each clip, in units of the actions' deviation."""
    return (commanded - recovered).square().sum(-1).sqrt().mean(1)


def _r2(true: Tensor, read: Tensor) -> float:
    left = (true - read).square().sum()
    return float(1 - left / (true - true.mean((0, 1))).square().sum().clamp(min=1e-9))


def _paintings(
    model: TrainedWorld, clip: VideoClip, seed: int
) -> tuple[float, float | None, float]:
    """PSNR against the true frames as the codec paints them: forward, with one view given over the
    others, and of the last known frame. Forward and cross-view are taken over the same views."""
    config, views = model.config, range(len(model.config.views))
    plain = _made(model, clip, _clean(clip, (), actions=True), config.steps, seed).video
    still = clip.video[:, :, config.context - 1 : config.context].expand_as(plain)
    frozen = _psnr(model, still, clip.video, views)
    if len(config.views) == 1:
        return _psnr(model, plain, clip.video, views), None, frozen
    forwards, crosses = [], []
    for view in views:
        filled = _made(model, clip, _clean(clip, (view,), actions=True), config.steps, seed).video
        others = [other for other in views if other != view]
        forwards.append(_psnr(model, plain, clip.video, others))
        crosses.append(_psnr(model, filled, clip.video, others))
    return float(np.mean(forwards)), float(np.mean(crosses)), frozen


def _psnr(model: TrainedWorld, sampled: Tensor, true: Tensor, views: Sequence[int]) -> float:
    """The mean over frames of the PSNR of some views after the context."""
    context, values = model.config.context, []
    for painted, real in zip(sampled[:, :, context:], true[:, :, context:], strict=True):
        pair = [
            decode_film(model.codec, film)[list(views)].astype(float) for film in (painted, real)
        ]
        error = np.square(pair[0] - pair[1]).mean((2, 3, 4)).clip(1e-6)
        values.append(float((10 * np.log10(255**2 / error)).mean()))
    return float(np.mean(values))


def _change(model: TrainedWorld, clip: VideoClip, seed: int) -> float:
    """The mean difference in grey levels between frames made in several steps and in one."""
    few = VideoClip(clip.video[:8], clip.actions[:8], clip.pace[:8], clip.flow[:8])
    clean = _clean(few, (), actions=True)
    films = [
        np.concatenate([decode_film(model.codec, film) for film in sampled.video])
        for sampled in (_made(model, few, clean, steps, seed) for steps in (model.config.steps, 1))
    ]
    return float(np.abs(films[0].astype(float) - films[1].astype(float)).mean())

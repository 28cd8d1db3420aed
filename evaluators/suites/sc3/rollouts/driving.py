"""Policies inside any world model that keeps the contract: the closed loop and the recorded one,
which know nothing of how a start came about."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from evaluators.contracts.robot_policy import PROPOSED, PolicyView, RobotPolicy
from evaluators.contracts.world_model import (
    ForwardRequest,
    InverseRequest,
    World,
    WorldFault,
    imagine,
    recover,
)
from evaluators.metrics.uncertainty import ActionChunk, chunk_uncertainty, exceeds
from evaluators.suites.sc3.rollouts.trajectories import Trajectory

Actions = npt.NDArray[np.float32]
Frames = npt.NDArray[np.uint8]
Asked = TypeVar("Asked")
Answered = TypeVar("Answered")

MACHINE_FAULTS = ("OutOfMemoryError", "AcceleratorError", "MemoryError")
MACHINE_WORDS = ("out of memory", "CUDA error", "HIP error", "No CUDA GPUs", "No space left")
"""What tells that the machine broke and not the model."""


@dataclass(frozen=True, slots=True)
class DrivenEpisode:
    """One thing to roll out: a policy from a start, with the recorded actions where it is driven by
    those. `first` is uint8 [views, height, width, RGB], `arm` the proprioception beside it."""

    id: str
    policy: int
    instruction: str
    seed: int
    first: Frames
    arm: npt.NDArray[np.float32]
    recorded: Actions | None = None

    @property
    def source(self) -> Literal["offline", "online"]:
        """Recorded actions make it offline."""
        return "online" if self.recorded is None else "offline"


@dataclass(frozen=True, slots=True)
class DriveConfig:
    """How many of the actions that a world looks ahead are executed; `limit` steps at most.

    `compared` are the dimensions of an action that U looks at, all if empty. `batch` episodes are
    rolled out together. How far a world looks ahead, and its tau, stand on its card.
    """

    execute: int = 16
    limit: int = 200
    compared: tuple[int, ...] = ()
    batch: int = 16


Proprioception = Callable[[DrivenEpisode, Frames, Actions], npt.NDArray[np.float32]]
"""What a policy may know of its arm after some actions, from the newest frames [views, height,
width, RGB] and the actions executed [steps, width]; never from a simulator."""


class WorldBroke(ValueError):
    """The world model broke, or answered with something else; its owner reads why."""


def drive(
    world: World,
    policies: Mapping[int, RobotPolicy],
    episodes: Sequence[DrivenEpisode],
    proprioception: Proprioception,
    config: DriveConfig,
) -> tuple[Trajectory, ...]:
    """One batch, all episodes a chunk at a time; those that stop leave the batch."""
    if not 1 <= config.execute <= world.card.chunk <= PROPOSED:
        raise WorldBroke(
            f"The world {world.card.name!r} looks {world.card.chunk} actions ahead. It has to be "
            f"{config.execute}, which are executed, to {PROPOSED}, which policies propose."
        )
    live = [_Rollout(episode, world, config) for episode in episodes]
    while running := [rollout for rollout in live if rollout.running]:
        proposed = [_proposal(rollout, policies, proprioception) for rollout in running]
        frames = _answers(imagine, world, _forward(running, proposed, world))
        recovered = _read_back(world, running, frames, config)
        for rollout, actions, ahead, back in zip(running, proposed, frames, recovered, strict=True):
            rollout.take(actions, ahead, back)
    return tuple(rollout.trajectory() for rollout in live)


def view_at(
    episode: DrivenEpisode, frames: Frames, actions: Actions, proprioception: Proprioception
) -> PolicyView:
    """What a policy is shown after some actions: `frames` are those of that moment."""
    arm = np.asarray(proprioception(episode, frames, actions), np.float32)
    return PolicyView(frames, arm, episode.instruction, episode.seed, len(actions))


def propose(policy: RobotPolicy, view: PolicyView, width: int) -> Actions:
    """The 25 actions of a policy, checked."""
    actions = np.asarray(policy.act(view), np.float32)
    if actions.shape != (PROPOSED, width) or not np.isfinite(actions).all():
        raise ValueError(
            f"The policy proposed {actions.shape} actions; asked are {PROPOSED} of {width} finite "
            "numbers."
        )
    return actions


def chunks(limit: int, execute: int) -> Iterator[slice]:
    """The steps of each chunk; the last is cut to what is left.

    >>> [(part.start, part.stop) for part in chunks(40, 16)]
    [(0, 16), (16, 32), (32, 40)]
    """
    return (slice(first, min(first + execute, limit)) for first in range(0, limit, execute))


def distance(
    commanded: Actions, recovered: Actions, scale: Sequence[float], compared: tuple[int, ...]
) -> float:
    """U of a chunk: the mean distance of commanded and recovered actions, in units of `scale`."""
    columns = list(compared) or list(range(commanded.shape[1]))
    divisor = np.asarray(scale, np.float32) if len(scale) else np.ones(commanded.shape[1])
    chunk = ActionChunk((commanded / divisor)[:, columns], (recovered / divisor)[:, columns])
    return chunk_uncertainty(chunk, len(commanded))


class _Rollout:
    """An episode that is being rolled out."""

    def __init__(self, episode: DrivenEpisode, world: World, config: DriveConfig) -> None:
        self.episode, self.card, self.config = episode, world.card, config
        expected = (len(self.card.views), self.card.height, self.card.width, 3)
        if episode.first.shape != expected:
            raise WorldBroke(
                f"The world {self.card.name!r} takes frames of {expected}; those of {episode.id} "
                f"are {episode.first.shape}. Name a size that the kit has on its card."
            )
        self.tau = self.card.tau
        recorded = episode.recorded
        self.limit = config.limit if recorded is None else min(config.limit, len(recorded))
        self.frames = episode.first[:, None]
        self.actions: Actions = np.zeros((0, self.card.action_dim), np.float32)
        self.recovered: list[Actions] = []
        self.u_chunk: list[float] = []
        self.stopped_at: int | None = None

    @property
    def running(self) -> bool:
        return self.stopped_at is None and len(self.actions) < self.limit

    @property
    def ahead(self) -> int:
        """How many actions the next chunk executes."""
        return min(self.config.execute, self.limit - len(self.actions))

    @property
    def seed(self) -> int:
        """The world's chance follows from the start and the step."""
        text = f"{self.episode.id}:{self.episode.seed}:{len(self.actions)}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")

    def take(self, actions: Actions, frames: Frames, recovered: Actions | None) -> None:
        """Keep the next chunk, or stop before it where U exceeds tau."""
        count = self.ahead
        if recovered is not None:
            u = distance(
                actions[:count], recovered[:count], self.card.action_scale, self.config.compared
            )
            self.recovered.append(recovered[:count])
            self.u_chunk.append(u)
            if self.episode.source == "online" and exceeds(u, self.tau):
                self.stopped_at = len(self.u_chunk) - 1
                return
        self.actions = np.concatenate([self.actions, actions[:count]])
        self.frames = np.concatenate([self.frames, frames[:, :count]], axis=1)

    def trajectory(self) -> Trajectory:
        longest = max((len(rows) for rows in self.recovered), default=0)
        recovered = np.zeros((len(self.recovered), longest, self.card.action_dim), np.float32)
        for number, rows in enumerate(self.recovered):
            recovered[number, : len(rows)] = rows
        stops = self.episode.source == "online" and bool(self.u_chunk)
        return Trajectory(
            start=self.episode.id,
            policy=self.episode.policy,
            source=self.episode.source,
            evaluator=self.card.name,
            frames=self.frames,
            actions=self.actions,
            recovered=recovered,
            u_chunk=np.array(self.u_chunk, np.float32),
            action_space=self.card.action_space,
            terminated_at=self.stopped_at,
            tau=self.tau if stops else None,
            action_scale=self.card.action_scale,
        )


def _proposal(
    rollout: _Rollout,
    policies: Mapping[int, RobotPolicy],
    proprioception: Proprioception,
) -> Actions:
    """Recorded actions padded with the last, or what the policy wants on seeing the last frames."""
    episode, step, horizon = rollout.episode, len(rollout.actions), rollout.card.chunk
    if episode.recorded is not None:
        rows = np.asarray(episode.recorded, np.float32)[step : step + horizon]
        missing = horizon - len(rows)
        return np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])
    if episode.policy not in policies:
        raise ValueError(f"Policy {episode.policy} of {episode.id} is not among those given.")
    view = view_at(episode, rollout.frames[:, -1], rollout.actions, proprioception)
    return propose(policies[episode.policy], view, rollout.card.action_dim)[:horizon]


def _forward(
    running: Sequence[_Rollout], proposed: Sequence[Actions], world: World
) -> list[ForwardRequest]:
    """Requests for one chunk ahead, with as much of the past as the world wants to see."""
    back = world.card.context
    return [
        ForwardRequest(
            rollout.episode.id,
            rollout.seed,
            rollout.episode.instruction,
            rollout.frames[:, -back:],
            rollout.actions[len(rollout.actions) - rollout.frames[:, -back:].shape[1] + 1 :],
            actions,
        )
        for rollout, actions in zip(running, proposed, strict=True)
    ]


def _read_back(
    world: World, running: Sequence[_Rollout], frames: Sequence[Frames], config: DriveConfig
) -> Sequence[Actions | None]:
    """The actions that the world reads off its own frames, where it can."""
    if world.inverse is None:
        return [None] * len(running)
    requests = [
        InverseRequest(
            rollout.episode.id,
            rollout.seed,
            rollout.episode.instruction,
            np.concatenate([rollout.frames[:, -1:], made[:, : config.execute]], axis=1),
        )
        for rollout, made in zip(running, frames, strict=True)
    ]
    return _answers(recover, world, requests)


def _answers(
    ask: Callable[[World, Sequence[Asked]], list[Answered]], world: World, requests: Sequence[Asked]
) -> list[Answered]:
    """What a world answers; its own faults become WorldBroke, the machine's go up as they are."""
    try:
        return ask(world, requests)
    except WorldFault as error:
        raise WorldBroke(str(error)) from error
    except Exception as error:  # whatever is wrong inside somebody's model is theirs to read about
        if is_machine_fault(error):
            raise
        words = str(error).splitlines()[0] if str(error) else "no words"
        raise WorldBroke(
            f"The world {world.card.name!r} broke: {type(error).__name__}, {words[:300]}"
        ) from error


def is_machine_fault(error: Exception) -> bool:
    """Tell whether memory, device or disk failed: such a fault is never the submitter's.

    >>> is_machine_fault(MemoryError()), is_machine_fault(ValueError("no such layer"))
    (True, False)
    """
    named = type(error).__name__ in MACHINE_FAULTS
    return named or any(word in str(error) for word in MACHINE_WORDS)

"""Policies inside a world model: the online loop, the offline loop, and many of them kept as they
are done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluators.contracts import Json
from evaluators.metrics.uncertainty import ActionChunk, chunk_uncertainty, exceeds
from evaluators.suites.sc3.rollouts.trajectories import (
    Source,
    Trajectory,
    gather,
    is_saved,
    save,
    write_whole,
)
from evaluators.worlds.actions import ACTION_WIDTH, RATE_HZ, Actions, BadActions, check_actions
from evaluators.worlds.bussing.bench import arm_after, set_table
from evaluators.worlds.bussing.starts import Start
from evaluators.worlds.bussing.views import VIEWS, Frames, render
from evaluators.worlds.bussing.world_models import Context, WorldModel, simulator
from evaluators.worlds.pictures import Size
from evaluators.worlds.policies.http import HttpPolicy
from evaluators.worlds.policies.plans import CHUNK, Observation
from evaluators.worlds.policies.policies import Policy, policy_of

LARGE = Size(480, 640)
CLAIM = "rollouts.json"


@dataclass(frozen=True, slots=True)
class RolloutConfig:
    """The paper's numbers, and in BENCH the small bench's: shorter episodes, small pictures.

    `compared` are the dimensions of an action that U looks at: what a picture cannot show is left
    out. Of the bench's views the first `views` are shown.
    """

    horizon: int = 24
    execute: int = 16
    seconds: float = 20.0
    tau: float | None = 0.02
    views: int = len(VIEWS)
    size: Size = LARGE
    compared: tuple[int, ...] = tuple(range(ACTION_WIDTH))
    batch: int = 36

    def __post_init__(self) -> None:
        if self.horizon < self.execute:
            raise ValueError(
                f"The horizon is {self.horizon} steps and {self.execute} of them are to be "
                "executed. "
                f"Look at least {self.execute} steps ahead, or execute fewer."
            )
        if not 1 <= self.views <= len(VIEWS):
            raise ValueError(
                f"{self.views} views are asked for; the bench has {len(VIEWS)}: {', '.join(VIEWS)}."
            )

    @property
    def limit(self) -> int:
        """The most steps of a rollout."""
        return round(self.seconds * RATE_HZ)


PAPER = RolloutConfig()
BENCH = RolloutConfig(seconds=5.6, tau=None, size=Size(), compared=(0, 1, 2, 6))


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing to roll out: a policy from a start, with the recorded actions where it is driven by
    those."""

    policy: int
    start: Start
    recorded: Actions | None = None

    @property
    def source(self) -> Source:
        """Recorded actions make it offline."""
        return "online" if self.recorded is None else "offline"

    @property
    def id(self) -> str:
        """The name of its trajectory."""
        return f"{self.start.id}.{self.source}"


class OtherRollouts(ValueError):
    """The folder holds rollouts made with other settings."""


class WorldFailed(ValueError):
    """The world model broke, or made something else than was asked for; the message says what."""


def roll_out(
    world: WorldModel,
    policies: Mapping[int, Policy],
    episodes: Sequence[Episode],
    config: RolloutConfig,
) -> tuple[Trajectory, ...]:
    """One batch, all episodes a chunk at a time; those that stop leave the batch."""
    live = [_Live(episode, _limit(episode, config)) for episode in episodes]
    while running := [rollout for rollout in live if rollout.running]:
        for same in _alike(running, config):
            _advance(world, policies, same, config)
    return tuple(rollout.trajectory(world, config) for rollout in live)


def roll_out_all(
    world: WorldModel,
    policies: Mapping[int, Policy],
    episodes: Sequence[Episode],
    config: RolloutConfig,
    folder: Path,
    clips: bool = True,
    on_batch: Callable[[int], None] = lambda _count: None,
) -> tuple[Path, ...]:
    """All episodes in batches cut in the same places, each trajectory kept; run again, it makes
    what is missing.

    A batch of which something is missing is rolled out whole, since a network's last digits depend
    on what else is in the batch; only what is missing is written.
    """
    _claim(folder, world, policies, config)
    clip_views = VIEWS[: config.views] if clips else ()
    for first in range(0, len(episodes), config.batch):
        batch = episodes[first : first + config.batch]
        missing = {episode.id for episode in batch if not is_saved(episode.id, folder, clip_views)}
        for trajectory in roll_out(world, policies, batch, config) if missing else ():
            if trajectory.id in missing:
                save(trajectory, folder, clips)
        on_batch(len(batch))
    gather(folder)
    return tuple(folder / f"{episode.id}.npz" for episode in episodes)


def claim_of(folder: Path) -> Mapping[str, Json]:
    """What a folder's rollouts were made with: evaluator, weights, policy servers, settings; empty
    if it has none."""
    spot = folder / CLAIM
    try:
        return dict(json.loads(spot.read_text("utf-8"))) if spot.is_file() else {}
    except (ValueError, TypeError):
        raise OtherRollouts(
            f"{spot} is not as `armillary sc3 rollout` wrote it. Roll out into a new folder."
        ) from None


def real(
    policies: Mapping[int, Policy], episodes: Sequence[Episode], config: RolloutConfig
) -> tuple[Trajectory, ...]:
    """The policies on the bench itself, which stands for the real table here."""
    world = simulator(config.size).world()
    rollouts = roll_out(world, policies, episodes, replace(config, tau=None))
    return tuple(replace(trajectory, source="real", evaluator="") for trajectory in rollouts)


class _Live:
    """An episode that is being rolled out."""

    def __init__(self, episode: Episode, limit: int) -> None:
        self.episode, self.limit = episode, limit
        self.frames: list[Frames] = []
        self.actions: Actions = np.zeros((0, ACTION_WIDTH), np.float32)
        self.recovered: list[Actions] = []
        self.u_chunk: list[float] = []
        self.stopped_at: int | None = None

    @property
    def running(self) -> bool:
        return self.stopped_at is None and len(self.actions) < self.limit

    def trajectory(self, world: WorldModel, config: RolloutConfig) -> Trajectory:
        longest = max((len(rows) for rows in self.recovered), default=0)
        recovered = np.zeros((len(self.recovered), longest, ACTION_WIDTH), np.float32)
        for number, rows in enumerate(self.recovered):
            recovered[number, : len(rows)] = rows
        return Trajectory(
            start=self.episode.start.id,
            policy=self.episode.policy,
            source=self.episode.source,
            evaluator=world.name,
            frames=np.concatenate(self.frames, axis=1),
            actions=self.actions,
            recovered=recovered,
            u_chunk=np.array(self.u_chunk, np.float32),
            action_space=world.action_space,
            terminated_at=self.stopped_at,
            tau=config.tau if self.episode.source == "online" and world.inverse else None,
            action_scale=() if world.scale is None else tuple(float(v) for v in world.scale),
        )


def _limit(episode: Episode, config: RolloutConfig) -> int:
    if episode.recorded is None:
        return config.limit
    if not len(episode.recorded):
        raise BadActions(f"The recording of {episode.id} has no action. Give at least one.")
    return min(len(check_actions(episode.recorded)), config.limit)


def _alike(running: list[_Live], config: RolloutConfig) -> Iterator[list[_Live]]:
    """Episodes in a batch stand at the same step; the first frames are drawn when they begin."""
    fresh = [rollout for rollout in running if not rollout.frames]
    if fresh:
        starts = [rollout.episode.start for rollout in fresh]
        first = render(set_table(starts), starts, config.size)
        for rollout, frame in zip(fresh, first, strict=True):
            rollout.frames.append(frame[: config.views, None])
    for step in sorted({len(rollout.actions) for rollout in running}):
        yield [rollout for rollout in running if len(rollout.actions) == step]


def _advance(
    world: WorldModel, policies: Mapping[int, Policy], live: list[_Live], config: RolloutConfig
) -> None:
    """One chunk: propose, imagine, look back, and keep it or stop."""
    context = Context(
        starts=tuple(rollout.episode.start for rollout in live),
        frames=np.stack([np.concatenate(rollout.frames, axis=1) for rollout in live]),
        actions=np.stack([rollout.actions for rollout in live]),
    )
    actions = _propose(policies, live, context, config)
    frames, recovered = _imagine(world, context, actions, config.execute)
    for number, rollout in enumerate(live):
        executed = min(config.execute, rollout.limit - len(rollout.actions))
        if recovered is not None:
            rows = recovered[number, :executed]
            rollout.recovered.append(rows)
            rollout.u_chunk.append(_uncertainty(world, actions[number], rows, executed, config))
            if rollout.episode.source == "online" and exceeds(rollout.u_chunk[-1], config.tau):
                rollout.stopped_at = len(rollout.u_chunk) - 1
                continue
        rollout.actions = np.concatenate([rollout.actions, actions[number, :executed]])
        rollout.frames.append(frames[number, :, :executed])


def _imagine(
    world: WorldModel, context: Context, actions: Actions, execute: int
) -> tuple[Frames, Actions | None]:
    """What the world model makes of a chunk, and the actions it reads off that; WorldFailed if it
    cannot."""
    try:
        frames = check_frames(world.forward(context, actions), context, actions)
        if world.inverse is None:
            return frames, None
        return frames, check_actions(world.inverse(context, frames[:, :, :execute]), execute)
    except WorldFailed:
        raise
    except Exception as error:  # whatever is wrong inside somebody's model is theirs to read about
        words = str(error).splitlines()[0] if str(error) else "no words"
        raise WorldFailed(
            f"The world model {world.name!r} broke: {type(error).__name__}, {words[:300]}"
        ) from error


def _propose(
    policies: Mapping[int, Policy], live: list[_Live], context: Context, config: RolloutConfig
) -> Actions:
    """Recorded actions, or what the policy wants on seeing the last frames; either padded with its
    last action."""
    proposed = np.zeros((len(live), config.horizon, ACTION_WIDTH), np.float32)
    arms = arm_after(context.starts, context.actions)
    for policy in sorted(
        {rollout.episode.policy for rollout in live if rollout.episode.recorded is None}
    ):
        rows = [
            n
            for n, rollout in enumerate(live)
            if rollout.episode.policy == policy and rollout.episode.recorded is None
        ]
        observations = [_observation(context, n, arms[n]) for n in rows]
        chunks = policy_of(policies, policy).propose(observations)
        proposed[rows] = _padded(check_actions(chunks, CHUNK), config.horizon)
    for number, rollout in enumerate(live):
        if rollout.episode.recorded is not None:
            ahead = check_actions(rollout.episode.recorded)[
                context.step : context.step + config.horizon
            ]
            proposed[number] = _padded(ahead, config.horizon)
    return proposed


def _padded(actions: Actions, count: int) -> Actions:
    """Exactly `count` actions: the first ones, or all with the last one repeated."""
    missing = max(0, count - actions.shape[-2])
    return np.concatenate(
        [actions[..., :count, :], np.repeat(actions[..., -1:, :], missing, axis=-2)], axis=-2
    )


def _observation(context: Context, number: int, arm: npt.NDArray[np.float64]) -> Observation:
    start = context.starts[number]
    return Observation(
        context.frames[number, :, -1], arm, start.instruction, context.step, start.seed
    )


def check_frames(frames: Frames, context: Context, actions: Actions) -> Frames:
    """The frames a world model made, if they are what was asked for."""
    expected = (*context.frames.shape[:2], actions.shape[1], *context.frames.shape[3:])
    if frames.dtype != np.uint8 or frames.shape != expected:
        raise WorldFailed(
            f"The world model made {frames.dtype} {frames.shape}; asked: uint8 {expected}, "
            f"that is episodes, {expected[1]} views in step, one frame an action, height, width, "
            "RGB."
        )
    return frames


def _uncertainty(
    world: WorldModel, commanded: Actions, recovered: Actions, executed: int, config: RolloutConfig
) -> float:
    scale = np.ones(ACTION_WIDTH, np.float32) if world.scale is None else world.scale
    columns = list(config.compared)
    chunk = ActionChunk(
        (commanded / scale)[:executed, columns], (recovered / scale)[:executed, columns]
    )
    return chunk_uncertainty(chunk, executed)


def _claim(
    folder: Path, world: WorldModel, policies: Mapping[int, Policy], config: RolloutConfig
) -> None:
    """A folder holds the rollouts of one evaluator and its weights, of the same policies, with one
    set of settings."""
    folder.mkdir(parents=True, exist_ok=True)
    servers = {
        str(number): policy.url
        for number, policy in policies.items()
        if isinstance(policy, HttpPolicy)
    }
    settings = {
        "evaluator": world.name,
        "revision": world.revision,
        "policy_servers": servers,
        **asdict(config),
    }
    mine = json.dumps(settings, sort_keys=True) + "\n"
    if (claimed := claim_of(folder)) and claimed != json.loads(mine):
        raise OtherRollouts(
            f"{folder} holds rollouts made with other settings or weights. Use another folder, or "
            "empty this one."
        )
    write_whole(folder / CLAIM, mine.encode())

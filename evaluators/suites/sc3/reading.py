"""What is read off a rollout when it comes in: whether it is sound, what annotators say, PSNR,
U."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluators.contracts import Json, JudgeCard, Sample
from evaluators.media import sha256_file
from evaluators.metrics.image import psnr
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.rollouts.loops import BENCH, RolloutConfig
from evaluators.suites.sc3.rollouts.replay import check_by_replay
from evaluators.suites.sc3.rollouts.trajectories import BadTrajectory, Trajectory, from_bytes
from evaluators.suites.sc3.samples import SHIPPED, criteria_of, on_the_table, starts
from evaluators.suites.sc3.table_bench import replay_bench
from evaluators.worlds.bussing.starts import Start
from evaluators.worlds.bussing.views import Frames

if TYPE_CHECKING:
    from evaluators.models.dynamics.annotator import Annotator

AUTOMATIC = "automatic"
OWN = "submitter"
MADE_UP = "made up"
"""Whose labels they are: not what an annotator is called, since a submitter may call theirs as they
like."""

ANNOTATOR = SHIPPED / "annotator.safetensors"
SAME_ACTION = 1e-4
"""How far an offline rollout's actions may lie from the recorded ones: they may have been rounded
on their way."""

NOTE = (
    "Wrong on none of the 252 real rollouts, nor on those as the small tokeniser paints them; what "
    "a world model of "
    "another kind paints it has not seen. Labels that come with a rollout are shown beside and "
    "count for nothing: they are the "
    "submitter's own."
)
"""What stands on the annotator's card: whose labels count, and how far its own are off."""


def card() -> JudgeCard:
    """Who says what holds: the small classifier of this file."""
    return JudgeCard(
        name="SC3 annotator",
        kind="auto",
        model="small classifier that reads simulated frames",
        revision=sha256_file(ANNOTATOR),
        prompt_sha256="",
        decoding="three independent answers a rollout, threshold 0.5",
        frames="15 of up to 57, three views",
        precision="float32",
        code="sc3-reading-3",
        note=NOTE,
    )


def read(sample: Sample, path: Path) -> Mapping[str, Json]:
    """Everything scoring needs to know of a rollout; BadTrajectory says what is wrong with it."""
    trajectory = from_bytes(path.read_bytes())
    check_belongs(trajectory, sample)
    value = _read(sample, trajectory)
    check_by_replay(trajectory, replay_bench(trajectory))
    return value


def read_yardstick(sample: Sample, path: Path) -> Mapping[str, Json]:
    """The same of a row of our own beside the ranking: what it claims counts, and is not done
    again, since a fake acts on no frame."""
    trajectory = from_bytes(path.read_bytes())
    check_belongs(trajectory, sample)
    value = dict(_read(sample, trajectory))
    claimed = value.pop("own_labels")
    if isinstance(claimed, list):
        value |= {"criteria": claimed[0], "annotator": MADE_UP, "labels": MADE_UP}
    return value


def _read(sample: Sample, trajectory: Trajectory) -> Mapping[str, Json]:
    policy, start = starts()[sample.cluster]
    real = on_the_table(policy)[start.id]
    check_length(trajectory, real, BENCH)
    own_labels = human_labels(trajectory, start.named_object)
    (outcome,) = annotate([trajectory], [start])
    measured = psnr_of(trajectory, real) if trajectory.source == "offline" else None
    return {
        "evaluator": trajectory.evaluator,
        "annotator": AUTOMATIC,
        "labels": AUTOMATIC,
        "own_labels": [dict(criteria_of(own_labels))] if own_labels else None,
        "criteria": dict(criteria_of(outcome)),
        "psnr": measured,
        "steps": trajectory.steps,
        "u_chunk": [round(float(value), 5) for value in trajectory.u_chunk],
        "action_space": trajectory.action_space,
        "terminated_at": trajectory.terminated_at,
        "tau": trajectory.tau,
    }


def check_length(rollout: Trajectory, real: Trajectory, config: RolloutConfig) -> None:
    """Offline the recorded actions, all of them; online up to the limit, or to the chunk at which
    it stopped."""
    if rollout.source == "offline":
        _check_recorded(rollout, real)
    elif rollout.terminated_at is None and rollout.steps != config.limit:
        raise BadTrajectory(
            f"{rollout.id}: {rollout.steps} steps where an online rollout that was not stopped has "
            f"{config.limit}. "
            "Roll it out to the end, or say in terminated_at which chunk stopped it."
        )
    elif rollout.terminated_at is not None:
        _check_stop(rollout, rollout.terminated_at, config)


def psnr_of(rollout: Trajectory, real: Trajectory) -> float | None:
    """The PSNR of an offline rollout against the real one, generated frames only, resized if need
    be."""
    if rollout.source != "offline":
        raise BadTrajectory(
            f"{rollout.id}: an {rollout.source} rollout has no real counterpart, since its policy "
            "saw other frames. PSNR is for offline rollouts."
        )
    steps = min(rollout.steps, real.steps)
    if steps == 0:
        return None
    frames = resized(rollout.frames[:, 1 : steps + 1], real.frames.shape[2:4])
    return psnr(reference=real.frames[:, 1 : steps + 1], generated=frames).value


def check_belongs(trajectory: Trajectory, sample: Sample) -> None:
    expected = sample.reference["policy"], sample.cluster, sample.facets.setting
    actual = trajectory.policy, trajectory.start, trajectory.source
    if expected != actual:
        raise BadTrajectory(
            f"This is the {actual[2]} rollout of policy {actual[0]} from {actual[1]}; asked here "
            f"is the {expected[2]} one of policy {expected[0]} from {expected[1]}. Hand each "
            "rollout in under its own sample."
        )


def _check_recorded(rollout: Trajectory, real: Trajectory) -> None:
    if rollout.terminated_at is not None:
        raise BadTrajectory(
            f"{rollout.id}: stopped at chunk {rollout.terminated_at}, but offline rollouts are "
            "never stopped. Drive it by all recorded actions and write null."
        )
    if rollout.steps != real.steps:
        raise BadTrajectory(
            f"{rollout.id}: {rollout.steps} steps where {real.steps} actions were recorded. "
            "Drive an offline rollout by all of them and drop the padding."
        )
    off = np.abs(rollout.actions - real.actions).max(axis=1) > SAME_ACTION
    if off.any():
        raise BadTrajectory(
            f"{rollout.id}: the action of step {int(off.argmax())} is not the recorded one. "
            "Drive an offline rollout by the recorded actions."
        )


def _check_stop(rollout: Trajectory, stopped: int, config: RolloutConfig) -> None:
    """What came before the chunk that was thrown away, which has the last U."""
    steps = stopped * config.execute
    if (
        not 0 <= steps < config.limit
        or rollout.steps != steps
        or len(rollout.u_chunk) != stopped + 1
    ):
        raise BadTrajectory(
            f"{rollout.id}: stopped at chunk {stopped} with {rollout.steps} steps and U of "
            f"{len(rollout.u_chunk)} chunks. "
            f"Chunks have {config.execute} steps and a rollout {config.limit}: keep the "
            f"{max(steps, 0)} steps before "
            "the chunk that exceeded tau, and give its U too."
        )


def human_labels(trajectory: Trajectory, named: str) -> ObjectOutcome | None:
    """What people say of an object; of several, each criterion by majority, a tie against it."""
    about = [annotation for annotation in trajectory.annotations if annotation.object == named]
    if not about:
        return None
    votes = np.array([list(criteria_of(annotation.outcome).values()) for annotation in about])
    return ObjectOutcome(*(bool(share) for share in votes.mean(0) > 0.5))


def annotate(
    trajectories: Sequence[Trajectory], begun: Sequence[Start]
) -> tuple[ObjectOutcome, ...]:
    """What the board's annotator sees in rollouts, of whatever size their pictures are."""
    reader = _annotator()
    size = reader.eyes.config.height, reader.eyes.config.width
    return reader.annotate([resized(trajectory.frames, size) for trajectory in trajectories], begun)


@cache
def _annotator() -> Annotator:
    from evaluators.models.dynamics.annotator import open_annotator

    return open_annotator(ANNOTATOR)


def resized(frames: Frames, size: tuple[int, ...]) -> Frames:
    """Bicubic, frame by frame, where the size differs."""
    from PIL import Image

    if frames.shape[2:4] == size:
        return frames
    flat = frames.reshape(-1, *frames.shape[2:])
    resized = [
        np.asarray(Image.fromarray(frame).resize((size[1], size[0]), Image.Resampling.BICUBIC))
        for frame in flat
    ]
    return np.stack(resized).reshape(*frames.shape[:2], *size, 3).astype(np.uint8)

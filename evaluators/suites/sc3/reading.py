"""What is read off a rollout when it comes in: whether it is sound and was really made so, what the
annotator sees, how like the real frames it is, U."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaluators.contracts import Json, JudgeCard, Sample
from evaluators.media import sha256_file
from evaluators.metrics.image import psnr
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.metrics.structure import ssim
from evaluators.suites.likeness import fidelity
from evaluators.suites.sc3.rollouts.driving import DriveConfig
from evaluators.suites.sc3.rollouts.replay import check_by_replay
from evaluators.suites.sc3.rollouts.trajectories import BadTrajectory, Trajectory, from_bytes
from evaluators.suites.sc3.samples import (
    criteria_of,
    folder_of,
    recording_of,
    start_of,
)
from evaluators.suites.sc3.table.confusion import confusion_words
from evaluators.suites.sc3.table.recordings import EVERY, TableRecording
from evaluators.suites.sc3.table.trials import read_trials
from evaluators.suites.sc3.table_bench import CONFIG, BadSize, replay_bench, sighted
from evaluators.worlds.actions import Actions
from evaluators.worlds.tabletop.views import Frames

AUTOMATIC = "automatic"
OWN = "submitter"
MADE_UP = "made up"
SIMULATED = "the simulator's own, from shipped trials"
ANNOTATED = "the annotator's, from shipped trials"
"""Whose labels they are: not what an annotator is called, since a submitter may call theirs as they
like."""

EYES = Path(__file__).parents[2] / "models" / "robots" / "data" / "annotator.safetensors"
SAME_ACTION = 1e-4
"""How far an offline rollout's actions may lie from the recorded ones: they may have been rounded
on their way."""


def card() -> JudgeCard:
    """Who says what holds: trained eyes and the simulator's rule; its errors stand on it."""
    return JudgeCard(
        name="SC3 annotator",
        kind="auto",
        model="small trained eyes that read simulated frames, and a rule",
        revision=sha256_file(EYES),
        prompt_sha256="",
        decoding="every fourth frame is read by itself; a fixed rule on what was read",
        frames="51 of up to 201, three views of 64 pixels",
        precision="float32",
        code="sc3-reading-5",
        note=_note(),
    )


def _note() -> str:
    """What stands on the annotator's card: whose labels count, and how far its own are off."""
    return (
        f"Against the truth of the shipped real runs: {confusion_words(read_trials())}. What a "
        "world model paints it has not seen, and its eyes began as those of four of the seven "
        "policies. Labels that come with a rollout are shown beside and count for nothing: they "
        "are the submitter's own."
    )


def read(sample: Sample, path: Path) -> Mapping[str, Json]:
    """Everything scoring needs to know of a rollout; BadTrajectory says what is wrong with it."""
    shown = _open(sample, path)
    rollout = _seen(shown)
    check_length(rollout, recording_of(sample).actions, CONFIG)
    pixels = shown.frames.shape[2]
    bench = replay_bench(folder_of(sample), start_of(sample), rollout.source, pixels)
    check_by_replay(rollout, bench)
    return _value(sample, rollout)


def read_yardstick(sample: Sample, path: Path) -> Mapping[str, Json]:
    """The same of a row of our own beside the ranking, which is not replayed; where it brings
    labels, those count: fakes look at no frame, and a run of the simulator has its own truth."""
    rollout = _open(sample, path)
    if rollout.steps or not rollout.annotations:
        return _value(sample, _seen(rollout))
    (label,) = rollout.annotations
    whose = label.annotator if label.annotator in (SIMULATED, ANNOTATED) else MADE_UP
    return {
        "evaluator": rollout.evaluator,
        "annotator": whose,
        "labels": whose,
        "criteria": dict(criteria_of(label.outcome)),
        "steps": 0,
        "u_chunk": [],
        "action_space": rollout.action_space,
        "terminated_at": None,
        "tau": None,
    }


def _open(sample: Sample, path: Path) -> Trajectory:
    rollout = from_bytes(path.read_bytes())
    check_belongs(rollout, sample)
    return rollout


def _seen(rollout: Trajectory) -> Trajectory:
    """A rollout as policies and the annotator see it, 64 pixels a side."""
    try:
        return replace(rollout, frames=sighted(rollout.frames))
    except BadSize as error:
        raise BadTrajectory(f"{rollout.id}: {error}") from None


def _value(sample: Sample, rollout: Trajectory) -> Mapping[str, Json]:
    own_labels = human_labels(rollout, str(sample.reference["object"]))
    outcome = annotate(rollout, sample.prompt)
    recording = recording_of(sample)
    offline = rollout.source == "offline"
    return {
        "evaluator": rollout.evaluator,
        "annotator": AUTOMATIC,
        "labels": AUTOMATIC,
        "own_labels": [dict(criteria_of(own_labels))] if own_labels else None,
        "criteria": dict(criteria_of(outcome)),
        **(table_likeness(rollout, recording) if offline else likeness(None, None)),
        "steps": rollout.steps,
        "u_chunk": [round(float(value), 5) for value in rollout.u_chunk],
        "action_space": rollout.action_space,
        "terminated_at": rollout.terminated_at,
        "tau": rollout.tau,
    }


def annotate(rollout: Trajectory, instruction: str) -> ObjectOutcome:
    """What the board's annotator sees in a rollout of 64 pixels."""
    from evaluators.models.robots.annotator import shipped_annotator

    return shipped_annotator().annotate(rollout.frames, instruction)


def table_likeness(rollout: Trajectory, recording: TableRecording) -> dict[str, Json]:
    """How like the real frames the generated ones are, where those are kept."""
    return likeness(rollout.frames[:, EVERY::EVERY], recording.kept_frames()[:, 1:])


def likeness(generated: Frames | None, real: Frames | None) -> dict[str, Json]:
    """PSNR and SSIM of frames [views, moments, height, width, RGB], resized if need be; None where
    there are none, as online, where the policy saw other frames. With weights of the operator's,
    LPIPS and the features of FVD beside them."""
    if generated is None or real is None or not min(generated.shape[1], real.shape[1]):
        return {"psnr": None, "ssim": None}
    moments = min(generated.shape[1], real.shape[1])
    shown, frames = real[:, :moments], resized(generated[:, :moments], real.shape[2:4])
    flat = [film.reshape(-1, *film.shape[2:]) for film in (shown, frames)]
    return {
        "psnr": psnr(reference=shown, generated=frames).value,
        "ssim": ssim(reference=flat[0], generated=flat[1]),
        **fidelity(real=shown, generated=frames),
    }


def check_length(rollout: Trajectory, recorded: Actions, config: DriveConfig) -> None:
    """Offline the recorded actions, all of them; online up to the limit, or to the chunk at which
    it stopped."""
    if rollout.source == "offline":
        _check_recorded(rollout, recorded)
    elif rollout.terminated_at is None and rollout.steps != config.limit:
        raise BadTrajectory(
            f"{rollout.id}: {rollout.steps} steps where an online rollout that was not stopped has "
            f"{config.limit}. "
            "Roll it out to the end, or say in terminated_at which chunk stopped it."
        )
    elif rollout.terminated_at is not None:
        _check_stop(rollout, rollout.terminated_at, config)


def check_belongs(trajectory: Trajectory, sample: Sample) -> None:
    expected = sample.reference["policy"], sample.reference["start"], sample.facets.setting
    actual = trajectory.policy, trajectory.start, trajectory.source
    if expected != actual:
        raise BadTrajectory(
            f"This is the {actual[2]} rollout of policy {actual[0]} from {actual[1]}; asked here "
            f"is the {expected[2]} one of policy {expected[0]} from {expected[1]}. Hand each "
            "rollout in under its own sample."
        )


def _check_recorded(rollout: Trajectory, recorded: Actions) -> None:
    if rollout.terminated_at is not None:
        raise BadTrajectory(
            f"{rollout.id}: stopped at chunk {rollout.terminated_at}, but offline rollouts are "
            "never stopped. Drive it by all recorded actions and write null."
        )
    if rollout.steps != len(recorded):
        raise BadTrajectory(
            f"{rollout.id}: {rollout.steps} steps where {len(recorded)} actions were recorded. "
            "Drive an offline rollout by all of them and drop the padding."
        )
    off = np.abs(rollout.actions - recorded).max(axis=1) > SAME_ACTION
    if off.any():
        raise BadTrajectory(
            f"{rollout.id}: the action of step {int(off.argmax())} is not the recorded one. "
            "Drive an offline rollout by the recorded actions."
        )


def _check_stop(rollout: Trajectory, stopped: int, config: DriveConfig) -> None:
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

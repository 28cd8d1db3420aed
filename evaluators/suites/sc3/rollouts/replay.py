"""Whether a handed-in rollout can have come about as it says: policies do the same on the same
frames, so what it claims is done again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluators.contracts.robot_policy import RobotPolicy
from evaluators.metrics.uncertainty import exceeds
from evaluators.suites.sc3.rollouts.driving import (
    Actions,
    DriveConfig,
    DrivenEpisode,
    Frames,
    Proprioception,
    chunks,
    distance,
    propose,
    view_at,
)
from evaluators.suites.sc3.rollouts.trajectories import BadTrajectory, Trajectory

OTHER_FIRST_FRAME = "another first frame"
BLANK_FIRST_FRAME = "a blank first frame"
OTHER_ACTIONS = "actions that are not the policy's"
OTHER_RECORDING = "actions that are not the recorded ones"
WRONG_U = "U that does not follow from the recovered actions"
WRONG_STOP = "a stop that contradicts tau"
WRONG_LENGTH = "another length"
STILL_FRAMES = "labels of success on frames that never move"

SAME_PIXEL = 24
OTHER_PIXELS = 0.002
"""Two pictures are of one start if less than this share of pixels differs by more levels than that:
graphics drivers draw edges differently, a moved object changes more."""

SAME_ACTION = 0.01
"""How far an action may lie from the one that is computed again, of a range of -1 to 1."""

SAME_U = 0.01
"""How far U may be off, relative to its size: it is handed in as float32."""

STILL = 2
"""Frames none of whose pixels ever leaves the first by more levels do not move."""


class ContradictedRollout(BadTrajectory):
    """The rollout contradicts itself, its start or its policy; `name` is the check that failed."""

    def __init__(self, rollout: Trajectory, name: str, words: str) -> None:
        super().__init__(f"{rollout.id} has {name}: {words}")
        self.name = name


@dataclass(frozen=True, slots=True)
class ReplayBench:
    """What a rollout is replayed with: its start at the rollout's size, its policy, and how the
    loop reads the arm. `recording` are the real actions, which an offline rollout is driven by. A
    lab's own policy is not at hand: then what it did is taken as handed in."""

    episode: DrivenEpisode
    policy: RobotPolicy | None
    proprioception: Proprioception
    recording: Actions
    config: DriveConfig


def check_by_replay(rollout: Trajectory, bench: ReplayBench) -> None:
    """Nothing if everything in a rollout follows from its frames; ContradictedRollout otherwise."""
    check_first_frame(rollout, bench.episode.first)
    _check_length(rollout, bench)
    _check_actions(rollout, bench)
    _check_uncertainty(rollout, bench)
    _check_stop(rollout)
    _check_labels(rollout)


def check_first_frame(rollout: Trajectory, first: Frames) -> None:
    """The rollout begins where its start does."""
    shown = rollout.frames[:, 0]
    refuse = partial(ContradictedRollout, rollout)
    if shown.shape != first.shape:
        raise refuse(
            OTHER_FIRST_FRAME,
            f"it is {shown.shape} and the start's {first.shape}. Use the kit's frames as they are.",
        )
    for view, (picture, real) in enumerate(zip(shown, first, strict=True)):
        if np.ptp(picture) <= STILL < np.ptp(real):
            raise refuse(
                BLANK_FIRST_FRAME, f"view {view} shows nothing. Begin with the start's own frames."
            )
        off = np.abs(picture.astype(int) - real).max(axis=-1) > SAME_PIXEL
        if off.mean() > OTHER_PIXELS:
            raise refuse(
                OTHER_FIRST_FRAME,
                f"{off.mean():.1%} of the pixels of view {view} are not the start's. Begin with "
                "the kit's frames of this start.",
            )


def _check_length(rollout: Trajectory, bench: ReplayBench) -> None:
    """All of the recording offline; online the whole time or what came before the stop."""
    execute, whole = bench.config.execute, bench.config.limit
    if rollout.source == "offline":
        whole = min(whole, len(bench.recording))
    elif rollout.terminated_at is not None:
        whole = rollout.terminated_at * execute
    if rollout.steps != whole or not 0 <= whole <= bench.config.limit:
        raise ContradictedRollout(
            rollout,
            WRONG_LENGTH,
            f"{rollout.steps} steps where {whole} follow from how it ended. Roll it out to the "
            "end, or keep what came before the chunk that stopped it.",
        )
    if rollout.source == "offline" and rollout.terminated_at is not None:
        raise ContradictedRollout(
            rollout, WRONG_STOP, "an offline rollout is never stopped. Write null."
        )


def _check_actions(rollout: Trajectory, bench: ReplayBench) -> None:
    for part, actions in _proposals(rollout, bench):
        executed = rollout.actions[part]
        off = np.abs(executed - actions[: len(executed)]).max(axis=1, initial=0) > SAME_ACTION
        if off.any():
            offline = rollout.source == "offline"
            raise ContradictedRollout(
                rollout,
                OTHER_RECORDING if offline else OTHER_ACTIONS,
                f"step {part.start + int(off.argmax())} is "
                f"{np.abs(executed - actions[: len(executed)]).max():.3f} off what "
                + ("was recorded." if offline else "the policy does on the frames handed in.")
                + " Roll it out with `armillary sc3 rollout`, or ask the policies as it does.",
            )


def _check_uncertainty(rollout: Trajectory, bench: ReplayBench) -> None:
    """Each U follows from what was commanded and recovered, the one that stopped it too."""
    refuse = partial(ContradictedRollout, rollout, WRONG_U)
    if not len(rollout.u_chunk):
        return
    stopped = rollout.terminated_at is not None
    proposals = list(_proposals(rollout, bench, beyond=stopped and bench.policy is not None))
    expected_count = len(proposals) + (stopped and bench.policy is None)
    if len(rollout.u_chunk) != expected_count:
        raise refuse(f"{len(rollout.u_chunk)} values for {expected_count} chunks. Give one each.")
    for number, (part, actions) in enumerate(proposals):
        count = min(part.stop - part.start, rollout.recovered.shape[1])
        expected = distance(
            actions[:count],
            rollout.recovered[number, :count],
            rollout.action_scale,
            bench.config.compared,
        )
        if abs(expected - rollout.u_chunk[number]) > SAME_U * max(expected, 1e-3):
            raise refuse(
                f"chunk {number} has {rollout.u_chunk[number]:.4f}, its actions give "
                f"{expected:.4f}. Compute it as the mean distance, divided by action_scale."
            )


def _check_stop(rollout: Trajectory) -> None:
    refuse = partial(ContradictedRollout, rollout, WRONG_STOP)
    over = [number for number, u in enumerate(rollout.u_chunk) if exceeds(float(u), rollout.tau)]
    stopped = rollout.terminated_at
    if rollout.source == "offline":
        return
    if stopped is None and over:
        raise refuse(
            f"U of chunk {over[0]} is {rollout.u_chunk[over[0]]:.4f}, over tau {rollout.tau}, and "
            "it went on. Stop there and say so in terminated_at."
        )
    if stopped is not None and over[:1] != [stopped]:
        raise refuse(
            f"it stopped at chunk {stopped}, but the first chunk over tau {rollout.tau} is "
            f"{over[0] if over else 'none'}. Stop where U exceeds tau and nowhere else."
        )


def _check_labels(rollout: Trajectory) -> None:
    """Whoever sees something lifted on pictures that do not move did not look."""
    lifted = any(note.outcome.object_lifting for note in rollout.annotations)
    moved = np.abs(rollout.frames.astype(np.int16) - rollout.frames[:, :1]).max(initial=0) > STILL
    if lifted and not moved:
        raise ContradictedRollout(
            rollout,
            STILL_FRAMES,
            "its labels say that something was lifted. Label what the frames show.",
        )


def _proposals(
    rollout: Trajectory, bench: ReplayBench, beyond: bool = False
) -> Iterator[tuple[slice, Actions]]:
    """What was to be done in each chunk; `beyond` adds the chunk that was thrown away."""
    execute = bench.config.execute
    end = rollout.steps + (execute if beyond else 0)
    for part in chunks(min(end, bench.config.limit), execute):
        if rollout.source == "offline":
            yield part, bench.recording[part]
            continue
        if bench.policy is None:
            yield part, rollout.actions[part]
            continue
        before = rollout.actions[: part.start]
        frames = rollout.frames[:, part.start]
        view = view_at(bench.episode, frames, before, bench.proprioception)
        yield part, propose(bench.policy, view, rollout.actions.shape[1])[: part.stop - part.start]

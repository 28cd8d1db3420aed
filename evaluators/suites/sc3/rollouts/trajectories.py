"""One rollout as it is kept and handed in: an npz with frames and actions, a line of JSON, and
clips to look at."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from evaluators.contracts import Json
from evaluators.media import write_mp4
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.worlds.actions import ACTION_WIDTH, RATE_HZ, Actions, check_actions
from evaluators.worlds.tabletop.views import VIEWS, Frames

Source = Literal["real", "offline", "online"]
CRITERIA = ("language_following", "object_lifting", "object_placing")


class BadTrajectory(ValueError):
    """The rollout cannot be read or scored; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class OutcomeAnnotation:
    """Who says what holds for one object."""

    annotator: str
    object: str
    outcome: ObjectOutcome


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A rollout: frames [views, steps + 1, height, width, RGB] beginning with the start, and the
    actions between.

    `terminated_at` is the chunk that was thrown away, None if the rollout ran to its end; `tau` is
    the most that U of a chunk was allowed to be, None where nothing was to stop it. U is taken in
    units of `action_scale`, or of the actions as they are where that is empty.
    """

    start: str
    policy: int
    source: Source
    evaluator: str
    frames: Frames
    actions: Actions
    recovered: Actions
    u_chunk: npt.NDArray[np.float32]
    action_space: str = "normalised"
    terminated_at: int | None = None
    annotations: tuple[OutcomeAnnotation, ...] = field(default=())
    tau: float | None = None
    action_scale: tuple[float, ...] = ()

    @property
    def id(self) -> str:
        """A name that is unique among the rollouts of an evaluator."""
        return f"{self.start}.{self.source}"

    @property
    def steps(self) -> int:
        """How many actions were executed."""
        return len(self.actions)


def check(
    trajectory: Trajectory,
    views: int | None = len(VIEWS),
    width: int | None = ACTION_WIDTH,
) -> Trajectory:
    """The trajectory if it is sound; BadTrajectory or BadActions otherwise. Any number of views or
    of numbers an action does where None is asked for."""
    frames, steps = trajectory.frames, trajectory.steps
    if frames.dtype != np.uint8 or frames.ndim != 5 or frames.shape[-1] != 3:
        raise BadTrajectory(
            f"{trajectory.id}: frames are {frames.dtype} {frames.shape}. Give uint8 [V, T, H, W, "
            "3]."
        )
    if views is not None and frames.shape[0] != views:
        raise BadTrajectory(
            f"{trajectory.id}: {frames.shape[0]} views where {views} are asked for."
        )
    check_actions(trajectory.actions, width=width or trajectory.actions.shape[-1])
    if frames.shape[1] != steps + 1:
        raise BadTrajectory(
            f"{trajectory.id}: {frames.shape[1]} frames for {steps} actions. Give the first frame "
            "and one an action."
        )
    if (
        not np.isfinite(trajectory.u_chunk).all()
        or trajectory.recovered.shape[:1] != trajectory.u_chunk.shape
    ):
        raise BadTrajectory(
            f"{trajectory.id}: U does not fit the recovered actions. Give one finite U a chunk."
        )
    return trajectory


def to_bytes(trajectory: Trajectory) -> bytes:
    """The npz of a trajectory: the same trajectory is the same bytes."""
    buffer = io.BytesIO()
    line = json.dumps(describe(trajectory), sort_keys=True).encode()
    np.savez_compressed(
        buffer,
        views=trajectory.frames,
        actions=trajectory.actions.astype(np.float32),
        recovered=trajectory.recovered.astype(np.float32),
        u_chunk=trajectory.u_chunk.astype(np.float32),
        line=np.frombuffer(line, np.uint8),
    )
    return buffer.getvalue()


def from_bytes(
    data: bytes, views: int | None = len(VIEWS), width: int | None = ACTION_WIDTH
) -> Trajectory:
    """A checked trajectory out of its npz; nothing in it is ever executed."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        line = json.loads(arrays["line"].tobytes())
        trajectory = _build(
            line, arrays["views"] if "views" in arrays else _stacked(arrays), arrays
        )
    except (KeyError, TypeError, ValueError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, BadTrajectory):
            raise
        raise BadTrajectory(
            f"This is no trajectory ({error}). See the README of the suite for its fields."
        ) from None
    return check(trajectory, views, width)


def describe(trajectory: Trajectory) -> dict[str, Json]:
    """The line of JSON: ids, how it ended, U of each chunk, and what annotators say."""
    return {
        "start": trajectory.start,
        "policy": trajectory.policy,
        "source": trajectory.source,
        "evaluator": trajectory.evaluator,
        "steps": trajectory.steps,
        "action_space": trajectory.action_space,
        "action_scale": [round(float(value), 6) for value in trajectory.action_scale],
        "terminated_at": trajectory.terminated_at,
        "tau": trajectory.tau,
        "u_chunk": [round(float(value), 6) for value in trajectory.u_chunk],
        "annotations": [_say(annotation) for annotation in trajectory.annotations],
    }


def save(
    trajectory: Trajectory,
    folder: Path,
    clips: bool | Sequence[str] = True,
    rate: float = RATE_HZ,
) -> Path:
    """Write npz, one clip a view and, last, the line of JSON that says the trajectory is whole.

    `clips` names the views that are written as clips; True is those of our table."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{trajectory.id}.npz"
    write_whole(path, to_bytes(trajectory))
    names = (VIEWS if clips else ()) if isinstance(clips, bool) else tuple(clips)
    for view, frames in zip(names, trajectory.frames if names else (), strict=False):
        spot = folder / f"{trajectory.id}.{view}.mp4"
        os.replace(write_mp4(frames, spot.with_suffix(".part"), rate), spot)
    write_whole(
        folder / f"{trajectory.id}.json",
        json.dumps(describe(trajectory), sort_keys=True).encode() + b"\n",
    )
    return path


def is_saved(name: str, folder: Path, clips: Sequence[str] = ()) -> bool:
    """Whether the trajectory of that name is there, all of it, with clips of these views."""
    return all(
        (folder / f"{name}.{end}").is_file()
        for end in ("json", "npz", *(f"{view}.mp4" for view in clips))
    )


def gather(folder: Path) -> Path:
    """The lines of all trajectories of a folder in one file, in the order of their names."""
    lines = [
        path.read_bytes()
        for path in sorted(folder.glob("*.json"))
        if path.with_suffix(".npz").is_file()
    ]
    path = folder / "trajectories.jsonl"
    write_whole(path, b"".join(lines))
    return path


def _stacked(arrays: Mapping[str, npt.NDArray[Any]]) -> Frames:
    """Views given one by one must be in step."""
    views = [arrays[f"view_{name}"] for name in VIEWS]
    lengths = [len(view) for view in views]
    if len(set(lengths)) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in zip(VIEWS, lengths, strict=True))
        raise BadTrajectory(
            f"The views are out of step: {listed} frames. Give all views the same frames."
        )
    return np.stack(views)


def _build(
    line: Mapping[str, Any], views: Frames, arrays: Mapping[str, npt.NDArray[Any]]
) -> Trajectory:
    if line["source"] not in ("real", "offline", "online"):
        raise BadTrajectory(f"The source is {line['source']!r}. Write real, offline or online.")
    stopped = line["terminated_at"]
    tau = line.get("tau")
    if tau is not None and not (isinstance(tau, int | float) and 0 <= tau < math.inf):
        raise BadTrajectory(
            f"The tau is {tau!r}. Write the number that U may not exceed, or null if nothing stops "
            "it."
        )
    return Trajectory(
        start=str(line["start"]),
        policy=int(line["policy"]),
        source=cast(Source, line["source"]),
        evaluator=str(line["evaluator"]),
        frames=views,
        actions=arrays["actions"],
        recovered=arrays["recovered"],
        u_chunk=arrays["u_chunk"],
        action_space=str(line["action_space"]),
        terminated_at=None if stopped is None else int(stopped),
        annotations=tuple(_read(entry) for entry in line["annotations"]),
        tau=None if tau is None else float(tau),
        action_scale=tuple(float(value) for value in line.get("action_scale", ())),
    )


def _say(annotation: OutcomeAnnotation) -> dict[str, Json]:
    criteria = {name: bool(getattr(annotation.outcome, name)) for name in CRITERIA}
    return {"annotator": annotation.annotator, "object": annotation.object, **criteria}


def _read(entry: Mapping[str, Any]) -> OutcomeAnnotation:
    values = [entry[name] for name in CRITERIA]
    if not all(isinstance(value, bool) for value in values):
        raise BadTrajectory(
            f"An annotation says {values}. Write true or false for each of {', '.join(CRITERIA)}."
        )
    return OutcomeAnnotation(str(entry["annotator"]), str(entry["object"]), ObjectOutcome(*values))


def write_whole(path: Path, data: bytes) -> None:
    """All of a file or nothing of it, whenever the process is killed."""
    spot = path.with_name(path.name + ".part")
    spot.write_bytes(data)
    os.replace(spot, path)

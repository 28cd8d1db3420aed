"""Inspection of a handed-in rollout: an npz of plain arrays with matching lengths, and nothing
else."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from submissions.media.facts import MediaFacts, Refused

TRAJECTORY_TYPE = "application/x-npz"
VIEWS = ("view_agent", "view_front", "view_wrist")
FLOATS = ("actions", "recovered", "u_chunk")
NAMES = frozenset({"views", "line", *FLOATS, *VIEWS})
MOST_WIDTH, MOST_VIEWS = 64, 8
"""Robots differ; what a suite's own robot has is checked when its rollouts are read."""
MOST_UNPACKED = 512 << 20
MOST_HEADER = 10_000
HINT = "Write it with numpy.savez_compressed; the suite's README names the arrays."


@dataclass(frozen=True, slots=True)
class Header:
    """What an array says of itself before its numbers."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]


def trajectory_facts(data: bytes) -> MediaFacts:
    """What a rollout is; Refused says what is wrong with it. Headers first: nothing large is
    unpacked unseen."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            headers = _headers(file)
            _check_kinds(headers)
            frames = _frames(headers)
            _check_finite(file, headers)
    except (
        zipfile.BadZipFile,
        ValueError,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise _refused(f"It cannot be read as one ({type(error).__name__}).") from None
    return MediaFacts(TRAJECTORY_TYPE, frames[3], frames[2], frames[1], None, False, "trajectory")


def _headers(file: zipfile.ZipFile) -> dict[str, Header]:
    infos = file.infolist()
    names = [info.filename.removesuffix(".npy") for info in infos]
    strange = sorted(set(names) - NAMES)
    if strange or len(set(names)) != len(names):
        raise _refused(
            f"It holds {strange[0]!r} or an array twice; known are {', '.join(sorted(NAMES))}."
        )
    if sum(info.file_size for info in infos) > MOST_UNPACKED:
        raise _refused("It unpacks to more than we take.")
    return {name: _header(file, info) for name, info in zip(names, infos, strict=True)}


def _header(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> Header:
    with file.open(info) as stream:
        version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call, unused-ignore]
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(stream, max_header_size=MOST_HEADER)  # type: ignore[no-untyped-call, unused-ignore]
    if dtype.hasobject or math.prod(shape) * dtype.itemsize > info.file_size:
        raise _refused(f"The array {info.filename} holds objects, or is cut short.")
    return Header(dtype, tuple(shape))


def _check_kinds(headers: Mapping[str, Header]) -> None:
    missing = sorted({"line", *FLOATS} - set(headers))
    if missing:
        raise _refused(f"The array {missing[0]} is missing.")
    for name, header in headers.items():
        expected_dtype = np.float32 if name in FLOATS else np.uint8
        if header.dtype != expected_dtype:
            raise _refused(
                f"The array {name} is {header.dtype}; asked: {np.dtype(expected_dtype)}."
            )
    shape = headers["actions"].shape
    if len(shape) != 2 or not 1 <= shape[1] <= MOST_WIDTH:
        raise Refused(
            "E_ACTIONS",
            f"The actions have shape {shape}.",
            "Give as many numbers a step as the robot takes: 7 on the suite's own table.",
        )


def _frames(headers: Mapping[str, Header]) -> tuple[int, ...]:
    """[views, frames, height, width, 3]; views given one by one must be in step."""
    if "views" in headers:
        shape = headers["views"].shape
    elif all(name in headers for name in VIEWS):
        shapes = {headers[name].shape for name in VIEWS}
        if len(shapes) > 1:
            raise _refused(f"The views are out of step: {sorted(shapes)}.")
        shape = (len(VIEWS), *shapes.pop())
    else:
        raise _refused("There are no views.")
    steps = headers["actions"].shape[0]
    if len(shape) != 5 or shape[0] > MOST_VIEWS or shape[-1] != 3 or min(shape) < 1:
        raise _refused(f"The views have shape {shape}; asked: [views, frames, height, width, 3].")
    if shape[1] != steps + 1:
        raise _refused(
            f"{shape[1]} frames for {steps} actions; asked: the first frame and one an action."
        )
    return shape


def _check_finite(file: zipfile.ZipFile, headers: Mapping[str, Header]) -> None:
    for name in FLOATS:
        with file.open(f"{name}.npy") as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)  # type: ignore[no-untyped-call, unused-ignore]
        if array.shape != headers[name].shape or not np.isfinite(array).all():
            raise Refused(
                "E_ACTIONS", f"The array {name} holds something that is no finite number.", HINT
            )


def _refused(message: str) -> Refused:
    return Refused("E_TRAJECTORY", message, HINT)

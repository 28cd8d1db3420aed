"""Recognises the files of a model's folder that no loader reads: they are left out with a note,
never refused."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from submissions.format.errors import Problem, shown

ABOUT = re.compile(
    r"\.git(attributes|ignore|keep)|(un)?licen[cs]e[\w.-]*|notice[\w.-]*|copying[\w.-]*|authors"
    r"|citation\.(cff|bib)|\.ds_store|thumbs\.db|desktop\.ini"
    r"|[\w.-]+\.pdf"
)
MEDIA = (
    ".png",
    ".jpg",
    ".jpeg",
    ".webp",
    ".gif",
    ".svg",
    ".bmp",
    ".tiff",
    ".avif",
    ".ico",
    ".mp4",
    ".webm",
    ".mov",
    ".wav",
    ".mp3",
    ".flac",
    ".ogg",
)
OTHER_INDEX = re.compile(r"[\w.-]+\.(bin|h5|msgpack|ckpt|pt|pth|onnx)\.index(\.[\w-]+)?\.json")
"""Which shards weights of another format were cut into; the weights themselves are not taken."""
TRAINING = re.compile(
    r"trainer_state\.json|(train|eval|all|predict|test)_results\.json|training_args\.json"
    r"|events\.out\.tfevents\.[\w.-]+\.\d+"
)
LOADED = (
    *(".json", ".safetensors", ".jinja", ".model"),
    *(".bin", ".pt", ".pth", ".ckpt", ".pkl", ".py", ".so", ".sh"),
)
"""Endings by which a file is looked at whatever its name begins with."""


def left_out(path: str) -> str:
    """Why a file is left out, in words; empty if it is a part of the model."""
    name = PurePosixPath(path).name.lower()
    if name.endswith(MEDIA):
        return "A picture, clip or sound"
    if TRAINING.fullmatch(name):
        return "What training left behind"
    if OTHER_INDEX.fullmatch(name):
        return "The index of weights in a format that is not taken"
    if ABOUT.fullmatch(name) and not name.endswith(LOADED):
        return "A file about the model"
    return ""


def note(path: str, why: str) -> Problem:
    """The word about a file that was left out."""
    return Problem(
        "W_LEFT_OUT", shown(path), f"{why}; it is left out, no loader reads it.", "Nothing to do."
    )

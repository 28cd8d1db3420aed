"""Facts, requirements and refusals of media files, and the checks that pictures and clips share.

Nothing is decoded in this process: a child with limits on memory and time does it
(submissions/media/decode_main.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from submissions.format.errors import Problem, shown

IMAGES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
VIDEOS = {".mp4": "mp4", ".webm": "webm"}
MOST_PIXELS = 16_000_000
LEAST_SIDE, MOST_ASPECT = 16, 8
MOST_FRAMES, LEAST_FRAMES = 2_000, 2
MOST_METADATA = 1 << 20
DARK = 20
"""A frame that is nowhere brighter is black; video calls 16 black."""
MOST_MEDIA_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class MediaFacts:
    """What was found in a file that decodes."""

    media_type: str
    width: int
    height: int
    frames: int
    fps: float | None
    static: bool
    mode: str = "RGB"
    black: int = 0
    """How many of its frames are black."""


@dataclass(frozen=True, slots=True)
class MediaRequirements:
    """What a suite asks of one output beyond being sound; None asks nothing.

    `input_hashes` are the SHA-256s and difference hashes (`dhash:` and 16 hex digits) of the
    pictures that a model is shown.
    """

    frames: int | None = None
    fps: float | None = None
    width: int | None = None
    height: int | None = None
    input_hashes: tuple[str, ...] = ()
    most_frames: int = MOST_FRAMES
    """For a video of several clips, as many times a clip's frames."""


NOTHING = MediaRequirements()


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of looking at one file: its hash, and its facts or what is wrong with it."""

    sha256: str
    facts: MediaFacts | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    copied: bool = False


class Refused(Exception):
    """The file is not fit; carries the problem."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint

    def at(self, where: str) -> Problem:
        """The problem, with its place."""
        return Problem(self.code, shown(where), self.message, self.hint)


def for_clips(requirements: MediaRequirements, clips: int) -> MediaRequirements:
    """The requirements of a video that is made of so many clips."""
    return replace(requirements, most_frames=MOST_FRAMES * max(1, clips))


def inspect(
    path: Path, name: str, modality: str, requirements: MediaRequirements = NOTHING
) -> MediaFacts:
    """Decode a file completely and tell what it is; Refused says what is wrong with it."""
    from submissions.format.archive import Span
    from submissions.media.decoder_pool import Job, shared

    size = path.stat().st_size
    span = Span(str(path.absolute()), 0, size, size)
    looked = shared().look(Job(span, name, modality, asked=requirements))
    if looked.facts is None:
        raise Refused(**looked.refused)
    return looked.facts


def check_kind(name: str, modality: str) -> str:
    """The format that a file's ending promises, or Refused."""
    suffix = Path(name).suffix.lower()
    formats = IMAGES if modality == "image" else VIDEOS
    if suffix not in formats:
        raise Refused(
            "E_MEDIA_KIND",
            f"{suffix or 'No ending'} is no {modality} we take.",
            f"Use {', '.join(formats)}.",
        )
    return formats[suffix]


def check_size(width: int, height: int) -> None:
    """Refuse what is too large, too small or too narrow."""
    if width * height > MOST_PIXELS:
        raise too_many_pixels()
    if min(width, height) < LEAST_SIDE or max(width, height) > MOST_ASPECT * min(width, height):
        raise Refused(
            "E_MEDIA_DIMENSIONS",
            f"{width} x {height} pixels.",
            f"At least {LEAST_SIDE} px, at most {MOST_ASPECT}:1.",
        )


def too_many_pixels() -> Refused:
    """The refusal of a picture above the limit."""
    return Refused("E_MEDIA_PIXELS", "The picture is too large.", f"At most {MOST_PIXELS} pixels.")


def broken(noun: str) -> Refused:
    """The refusal of a file that does not decode to its end."""
    return Refused(
        "E_MEDIA_BROKEN",
        f"The {noun} is damaged or cut short.",
        "Make the file again and check that it opens.",
    )


def extra(count: int, noun: str) -> Refused:
    """The refusal of a file with something glued behind it."""
    return Refused(
        "E_MEDIA_EXTRA_DATA", f"{count} bytes stand behind the {noun}.", f"Save the {noun} again."
    )


def metadata() -> Refused:
    """The refusal of a file whose metadata outweighs it."""
    return Refused(
        "E_MEDIA_METADATA", "The picture carries too much metadata.", "Save it without metadata."
    )


def animated() -> Refused:
    """The refusal of an animation where one picture is asked."""
    return Refused(
        "E_MEDIA_FRAMES", "This picture is animated.", "Hand in one still picture a sample."
    )

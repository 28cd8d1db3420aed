"""Words found in a picture, so that an overlay can be flagged. Needs the extra `ocr`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from evaluators.media import Pixels, sample_frames

SURE = 0.6
FEWEST_LETTERS = 8
"""A sign on a shop is no overlay; a sentence is."""


class OcrMissing(RuntimeError):
    """The extra is not installed; the message says how to install it."""


@dataclass(frozen=True, slots=True)
class Writing:
    """The lines of text in a picture or in the frames of a clip, each once."""

    lines: tuple[str, ...]

    @property
    def flagged(self) -> bool:
        """Whether there is enough of it that it may speak to a judge."""
        return sum(letter.isalnum() for line in self.lines for letter in line) >= FEWEST_LETTERS


class TextReader(Protocol):
    """What is asked of rapidocr: boxes with text and confidence, or nothing."""

    def __call__(
        self, pixels: Pixels
    ) -> tuple[Sequence[tuple[object, str, float]] | None, object]: ...


def find_writing(media: Path, modality: str, frames: str = "uniform-3") -> Writing:
    """Read what is written in a picture, or in some frames of a clip."""
    lines = [line for pixels in sample_frames(media, frames, modality) for line in _read(pixels)]
    return Writing(tuple(dict.fromkeys(lines)))


def _read(pixels: Pixels) -> list[str]:
    boxes, _ = reader()(pixels[:, :, ::-1])  # it wants blue first
    return [text for _, text, confidence in boxes or () if float(confidence) >= SURE]


def need_reader() -> None:
    """Raise OcrMissing unless the extra is installed; loads nothing."""
    if find_spec("rapidocr_onnxruntime") is None:
        raise OcrMissing(
            "Finding overlays needs rapidocr-onnxruntime, which is not installed. pip install "
            "'armillary[ocr]'"
        )


@cache
def reader() -> TextReader:
    """The reader with its weights, loaded once a process; OcrMissing if it is not installed."""
    need_reader()
    from rapidocr_onnxruntime import RapidOCR  # type: ignore[import-not-found, import-untyped, unused-ignore]

    ocr: TextReader = RapidOCR()
    return ocr

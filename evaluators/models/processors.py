"""Reads the processor of a vision-language model's folder. Frames go in as pictures, so the part
that reads videos, and the libraries that it wants, are left out."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from evaluators.contracts import CannotProduce

NAMED_IN = (
    "processor_config.json",
    "preprocessor_config.json",
    "tokenizer_config.json",
)
"""Where a folder names its processor's class, in the order in which transformers looks."""
VIDEOS = "video_processor"
COUNTS_IN_WORDS = "num2words"
"""What SmolVLM's processor asks for to tell the frames of a video."""


class NoVideos:
    """Stands where a processor keeps what reads videos; nobody here asks for it."""

    model_input_names: tuple[str, ...] = ()
    num_frames = fps = size = None


def read_processor(folder: Path) -> Any:
    """The processor as its authors saved it."""
    from transformers import AutoProcessor

    read: Any = AutoProcessor.from_pretrained
    try:
        if (kind := _class_of(folder)) is not None:
            read = _without_videos(kind).from_pretrained
        return read(folder, local_files_only=True)
    except ImportError as missing:
        library = _library(str(missing))
        raise CannotProduce(
            f"This model's processor does not load without {library}. pip install {library}."
        ) from missing


def _library(message: str) -> str:
    """The library that transformers says is missing."""
    named = re.search(r"requires the (\w+) library|Package `(\w+)`|No module named '(\w+)", message)
    return next(filter(None, named.groups())).lower() if named else "a library: " + message[:200]


def _class_of(folder: Path) -> Any:
    """The class of a processor that also reads videos; None for any other."""
    import transformers
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

    library: Any = transformers
    names = [_setting(folder / file, "processor_class") for file in NAMED_IN]
    kind = _setting(folder / "config.json", "model_type")
    name = next(filter(None, names), None) or PROCESSOR_MAPPING_NAMES.get(kind)
    processor: Any = getattr(library, name, None) if isinstance(name, str) else None
    reads_videos = hasattr(processor, "get_attributes") and VIDEOS in processor.get_attributes()
    return processor if reads_videos else None


def _setting(file: Path, key: str) -> Any:
    return json.loads(file.read_text("utf-8")).get(key) if file.is_file() else None


def _without_videos(kind: Any) -> Any:
    """The class with its parts read one by one, all but the one for videos."""
    module = sys.modules[kind.__module__]
    if vars(module).get(COUNTS_IN_WORDS, "") is None:
        vars(module)[COUNTS_IN_WORDS] = str
    attributes = list(kind.get_attributes())
    place = attributes.index(VIDEOS)
    pictures_only: Any = type(
        kind.__name__, (kind,), {"get_attributes": classmethod(lambda _: _others(attributes))}
    )

    class PictureProcessor(kind):  # type: ignore[misc]
        """The same processor for pictures and words."""

        video_processor: Any

        @classmethod
        def _get_arguments_from_pretrained(cls, *where: Any, **options: Any) -> list[Any]:
            parts = pictures_only._get_arguments_from_pretrained(*where, **options)
            return [*parts[:place], NoVideos(), *parts[place:]]

        def check_argument_for_proper_class(self, name: str, part: Any) -> Any:
            if isinstance(part, NoVideos):
                return NoVideos
            return super().check_argument_for_proper_class(name, part)

        def to_dict(self) -> dict[str, Any]:
            """What is printed and saved: all parts that are here."""
            videos, self.video_processor = self.video_processor, None
            try:
                settings: dict[str, Any] = super().to_dict()
            finally:
                self.video_processor = videos
            return settings

    PictureProcessor.__name__ = kind.__name__
    return PictureProcessor


def _others(attributes: list[str]) -> list[str]:
    return [name for name in attributes if name != VIDEOS]

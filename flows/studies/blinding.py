"""Media that tell nothing of their maker: one format, no metadata, and one canvas and frame rate
where those would tell, made by a child."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from evaluators.contracts import Rating
from infra.store import Store, fetch_blob, put_blob
from leaderboard.studies.states import StudyError
from submissions.media.derivatives import Canvas, blind

CANVAS = Canvas(640, 480, 12)
NATIVE = Canvas(1280, 720, None)
"""For videos in which flicker is a failure: it is seen at their own rate only."""
PICTURES = (".png", ".jpg", ".jpeg", ".webp")
Source: TypeAlias = "str | Mapping[str, Any]"
"""A file's path, or the hash and type of one in the store."""


@dataclass(frozen=True, slots=True)
class Blind:
    """A file of the store that may be shown to a rater."""

    blob: str
    media_type: str


def canvas_of(rating: Rating) -> Canvas:
    """What the raters of a protocol see its media on."""
    return NATIVE if rating.native else CANVAS


def blinded(store: Store, sources: Sequence[Source], canvas: Canvas = CANVAS) -> list[Blind]:
    """Encode pictures and clips again for raters, every frame of them, and put them into the store,
    in their order."""
    with tempfile.TemporaryDirectory(prefix="armillary-blind-") as folder:
        files = list(_files(store, sources, Path(folder)))
        for source, fine in zip(sources, blind(files, canvas), strict=True):
            if not fine:
                raise StudyError(
                    f"{_name(source)} cannot be shown: it is no picture or clip that can be read."
                )
        return [Blind(put_blob(store, target), _type(target)) for _, target in files]


def _files(store: Store, sources: Sequence[Source], folder: Path) -> Iterator[tuple[Path, Path]]:
    for number, source in enumerate(sources):
        target = folder / f"{number}{'.png' if _is_picture(source) else '.mp4'}"
        if isinstance(source, str):
            yield Path(source), target
        else:
            fetch_blob(store, source["sha256"], folder / f"{number}.source")
            yield folder / f"{number}.source", target


def _is_picture(source: Source) -> bool:
    if isinstance(source, str):
        return Path(source).suffix.lower() in PICTURES
    return str(source["media_type"]).startswith("image/")


def _name(source: Source) -> str:
    return Path(source).name if isinstance(source, str) else f"Output {source['sha256'][:12]}"


def _type(target: Path) -> str:
    return "image/png" if target.suffix == ".png" else "video/mp4"

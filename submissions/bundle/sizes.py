"""Outputs whose size is not what the manifest says, or not what the entry's others have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from submissions.format.errors import Problem
from submissions.format.manifest import DeclaredSampling
from submissions.media.facts import MediaFacts

Size = tuple[int, int]
USUAL = 0.8
"""From this share on, a size is what an entry's outputs have, and others are odd."""


def size_warnings(media: Mapping[str, MediaFacts], sampling: DeclaredSampling) -> Iterator[Problem]:
    """One remark a sample whose picture or clip has another size; nothing where sizes vary and none
    is stated."""
    for kind in ("image/", "video/"):
        sizes = {
            sample: (facts.width, facts.height)
            for sample, facts in media.items()
            if facts.media_type.startswith(kind)
        }
        stated = (sampling.width, sampling.height)
        usual, words = (stated, "the manifest says") if all(stated) else _usual(sizes)
        for sample, size in sizes.items():
            if usual and size != usual:
                message = f"It is {_spelled(size)}; {words} {_spelled(usual)}."
                yield Problem("W_SIZE", sample, message, "It is judged as it is.")


def _usual(sizes: Mapping[str, Size]) -> tuple[Size | None, str]:
    """The size that most outputs have, if most have one."""
    if not sizes:
        return None, ""
    size, count = Counter(sizes.values()).most_common(1)[0]
    return (size if count >= USUAL * len(sizes) else None), "most of the others are"


def _spelled(size: tuple[int | None, int | None]) -> str:
    return f"{size[0]}x{size[1]}"

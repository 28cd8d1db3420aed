"""The elements of a webm file, walked from its first byte to its last: none is cut, and nothing
stands behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from submissions.media.facts import broken, extra

HEAD, SEGMENT, CLUSTER = 0x1A45DFA3, 0x18538067, 0x1F43B675
OPEN_ENDED = (SEGMENT, CLUSTER)
"""Elements whose length a program that writes as it films may leave open."""
IN_SEGMENT = frozenset(
    {
        *(0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1C53BB6B, 0x1254C367, 0x1043A770),
        *(CLUSTER, 0xEC, 0xBF),
    }
)
"""Places, facts, tracks, cues, tags, chapters, clusters, gaps and checksums."""
IN_CLUSTER = frozenset({0xE7, 0xA3, 0xA0, 0xA7, 0xAB, 0xEC, 0xBF})
"""A cluster's time, blocks alone and in groups, its position, the length of the one before, gaps
and checksums."""


@dataclass(frozen=True, slots=True)
class Element:
    """What stands at a place: its kind, where its body begins, and where it ends if it says so."""

    kind: int
    body: int
    end: int | None


def check_elements(data: bytes) -> None:
    """Refuse a file that is cut, or goes on behind its end."""
    head, segment = _top(data)
    if head.kind != HEAD or segment.kind != SEGMENT:
        raise broken("clip")
    end = len(data) if segment.end is None else segment.end
    if end > len(data):
        raise broken("clip")
    for element in _inside(data, segment.body, end):
        if element.end is not None and element.end > end:
            raise broken("clip")
    if end < len(data):
        raise extra(len(data) - end, "clip")


def _top(data: bytes) -> tuple[Element, Element]:
    head = _element(data, 0)
    if head.end is None:
        raise broken("clip")
    return head, _element(data, head.end)


def _inside(data: bytes, at: int, end: int) -> Iterator[Element]:
    """The elements of a segment, and those of clusters that leave their length open."""
    expected = IN_SEGMENT
    while at < end:
        element = _element(data, at)
        if element.kind not in expected:
            raise extra(end - at, "clip")
        if element.end is None:
            expected = IN_SEGMENT | IN_CLUSTER
        at = element.body if element.end is None else element.end
        yield element


def _element(data: bytes, at: int) -> Element:
    """The element at a place; broken where there is none."""
    kind, after_kind = _number(data, at)
    size, body = _number(data, after_kind)
    bits = 7 * (body - after_kind)
    size &= (1 << bits) - 1
    if size == (1 << bits) - 1:
        if kind not in OPEN_ENDED:
            raise broken("clip")
        return Element(kind, body, None)
    return Element(kind, body, body + size)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number that says by its leading zeros how long it is, with that mark, and the place behind
    it."""
    length = 9 - data[at].bit_length() if at < len(data) else 9
    if length > 8 or at + length > len(data):
        raise broken("clip")
    return int.from_bytes(data[at : at + length], "big"), at + length

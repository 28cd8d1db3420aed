"""Many continuations of one prefix in one row: which token sees which, and at what position each
one stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

PREFIX = 0
"""The number of the segment that was prefilled; those of a row count from 1."""


@dataclass(frozen=True, slots=True)
class TokenSegment:
    """Tokens that continue a parent segment and see it, its ancestors and themselves, but no
    sibling.

    Inside, a token sees what is before it; in a segment that reads both ways, also what is after
    it.
    """

    tokens: tuple[int, ...]
    parent: int = PREFIX
    both_ways: bool = False


@dataclass(frozen=True, slots=True)
class PackedRow:
    """One prefix and what continues it; `start` is the position of the prefix's first token."""

    prefix: int
    segments: tuple[TokenSegment, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Tables:
    """Which segment of a row sees which, as [row, segment, segment]; the last segment is padding
    and unseen."""

    sees: Tensor
    both_ways: Tensor


@dataclass(frozen=True, slots=True)
class Slots:
    """Tokens in a row by segment and position, both [row, token]."""

    segment: Tensor
    position: Tensor


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Rows as tensors: the tokens to run, the prefix before them, and where each segment's tokens
    lie."""

    tokens: Tensor
    slots: Slots
    prefix: Slots
    tables: Tables
    begins: tuple[tuple[int, ...], ...]
    starts: tuple[tuple[int, ...], ...]


def pack(rows: Sequence[PackedRow], pad: int) -> PackedRows:
    """Lay the segments of each row end to end, each at the position it would have alone."""
    count = max(len(row.segments) for row in rows)
    begins, starts = zip(*(_lengths(row) for row in rows), strict=True)
    longest = max(row.prefix for row in rows)
    prefix = Slots(
        _padded([[PREFIX] * row.prefix for row in rows], longest, count + 1),
        _padded([list(range(row.start, row.start + row.prefix)) for row in rows], longest, 0),
    )
    width = max(sum(len(part.tokens) for part in row.segments) for row in rows)
    flat = [[token for part in row.segments for token in part.tokens] for row in rows]
    names = [[i for i, part in enumerate(row.segments, 1) for _ in part.tokens] for row in rows]
    places = [
        [
            first + k
            for first, part in zip(start, row.segments, strict=True)
            for k in range(len(part.tokens))
        ]
        for start, row in zip(starts, rows, strict=True)
    ]
    slots = Slots(_padded(names, width, count + 1), _padded(places, width, 0))
    return PackedRows(
        _padded(flat, width, pad), slots, prefix, _tables(rows, count), begins, starts
    )


def visible(tables: Tables, queries: Slots, keys: Slots, window: int | None = None) -> Tensor:
    """True where a query sees a key, [row, query, key]; a window hides keys far behind, unless both
    read both ways."""
    rows = torch.arange(len(queries.segment), device=queries.segment.device)[:, None, None]
    query_segment, key_segment = queries.segment[:, :, None], keys.segment[:, None, :]
    behind = queries.position[:, :, None] - keys.position[:, None, :]
    block = (query_segment == key_segment) & tables.both_ways[rows, query_segment]
    near = behind >= 0 if window is None else (behind >= 0) & (behind < window)
    return tables.sees[rows, query_segment, key_segment] & (block | near)


def additive(seen_mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The mask as numbers to add, [row, 1, query, key]: eager attention adds a boolean mask as 0
    and 1 and so leaks."""
    hidden = torch.finfo(dtype).min
    return torch.zeros_like(seen_mask, dtype=dtype).masked_fill_(~seen_mask, hidden)[:, None]


def common_prefix(sequences: Sequence[Sequence[int]]) -> int:
    """How many leading tokens all share, leaving each at least one of its own.

    >>> common_prefix([(1, 2, 3), (1, 2, 4, 5)])
    2
    >>> common_prefix([(1, 2)]), common_prefix([(1, 2), (1, 2, 3)])
    (1, 1)
    """
    shortest = min(len(sequence) for sequence in sequences) - 1
    for i in range(shortest):
        if len({sequence[i] for sequence in sequences}) > 1:
            return i
    return shortest


def _lengths(row: PackedRow) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where each segment begins in the packed row, and at what position it starts."""
    begins: list[int] = []
    starts: list[int] = []
    used = 0
    for part in row.segments:
        begins.append(used)
        used += len(part.tokens)
        up = part.parent - 1
        parent_end = row.start + row.prefix if up < 0 else starts[up] + len(row.segments[up].tokens)
        starts.append(parent_end)
    return tuple(begins), tuple(starts)


def _tables(rows: Sequence[PackedRow], count: int) -> Tables:
    sees = torch.zeros(len(rows), count + 2, count + 2, dtype=torch.bool)
    both = torch.zeros(len(rows), count + 2, dtype=torch.bool)
    sees[:, PREFIX, PREFIX] = True
    for r, row in enumerate(rows):
        for i, part in enumerate(row.segments, 1):
            sees[r, i] = sees[r, part.parent]
            sees[r, i, i] = True
            both[r, i] = part.both_ways
    return Tables(sees, both)


def _padded(rows: Sequence[Sequence[int]], width: int, fill: int) -> Tensor:
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], dtype=torch.long)

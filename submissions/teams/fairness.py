"""In which order what waits is taken, so that a team that hands in much keeps no other waiting."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def fair_turns(
    waiting: Sequence[T], team_of: Callable[[T], str], in_work: Mapping[str, float]
) -> Iterator[T]:
    """What waits, oldest first, in fair turns: always the oldest of the team that has least in
    work.

    >>> list(fair_turns(["a0", "a1", "a2", "b0"], lambda name: name[0], {"a": 1}))
    ['b0', 'a0', 'a1', 'a2']
    """
    lines: dict[str, deque[tuple[int, T]]] = {}
    for place, one in enumerate(waiting):
        lines.setdefault(team_of(one), deque()).append((place, one))
    next_up = [(in_work.get(team, 0), line[0][0], team) for team, line in lines.items()]
    heapq.heapify(next_up)
    while next_up:
        count, _, team = heapq.heappop(next_up)
        line = lines[team]
        yield line.popleft()[1]
        if line:
            heapq.heappush(next_up, (count + 1, line[0][0], team))

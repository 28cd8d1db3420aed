"""Handing in takes minutes: a few at a time, in threads of their own number, so that readers never
wait for them, and few of them for one team, so that no other waits for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TypeVar, TypeVarTuple

from anyio import CapacityLimiter, to_thread
from fastapi import Request

MOST_AT_ONCE = 8
"""Below the threads of the server and the connections of its pool, which all other requests
share."""
MOST_OF_A_TEAM = 2
Args = TypeVarTuple("Args")
Result = TypeVar("Result")


class Turns:
    """How many hand in at once in this process, how many of them for each team, how many promises
    of a team are read, and how many are shown a file."""

    def __init__(self) -> None:
        few = partial(CapacityLimiter, MOST_OF_A_TEAM)
        self.all = CapacityLimiter(MOST_AT_ONCE)
        self.of_team = defaultdict[str, CapacityLimiter](few)
        self.shown = CapacityLimiter(MOST_AT_ONCE)
        self.promises = defaultdict[str, CapacityLimiter](few)


async def in_turn(
    request: Request, team: str, work: Callable[[*Args], Result], *args: *Args
) -> Result:
    """Do a team's work in a thread when fewer than the limits are at such work."""
    turns = _turns(request)
    async with turns.of_team[team]:
        return await to_thread.run_sync(work, *args, limiter=turns.all)


async def in_turn_to_show(
    request: Request, work: Callable[[*Args], Result], *args: *Args
) -> Result:
    """Do it in one of few threads: who asks to see many files at once, without a token, waits for
    himself."""
    return await to_thread.run_sync(work, *args, limiter=_turns(request).shown)


def turn_to_promise(request: Request, team: str) -> CapacityLimiter:
    """Held while a promise of a team comes and is read: a few megabytes of text are many more of
    values."""
    return _turns(request).promises[team]


def _turns(request: Request) -> Turns:
    state = request.app.state
    if not hasattr(state, "turns"):
        state.turns = Turns()
    turns: Turns = state.turns
    return turns

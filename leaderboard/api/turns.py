"""Handing in takes minutes: a few at a time, in threads of their own number, so that readers never
wait for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from anyio import CapacityLimiter, to_thread
from fastapi import Request

MOST_AT_ONCE = 8
"""Below the threads of the server and the connections of its pool, which all other requests
share."""
Args = TypeVarTuple("Args")
Result = TypeVar("Result")


async def in_turn(request: Request, work: Callable[[*Args], Result], *args: *Args) -> Result:
    """Do the work in a thread when fewer than the limit are at such work."""
    state = request.app.state
    if not hasattr(state, "intake_turns"):
        state.intake_turns = CapacityLimiter(MOST_AT_ONCE)
    return await to_thread.run_sync(work, *args, limiter=state.intake_turns)

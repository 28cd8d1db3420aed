"""The pace an endpoint allows: calls and tokens in any minute, and pauses that it asks for."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock


@dataclass(slots=True)
class AdmittedCall:
    """A call that was let through, when, and the tokens counted for it."""

    at: float
    tokens: int


class Pace:
    """Lets calls through so that no window of a minute holds more calls or tokens than allowed; 0
    is no limit.

    A call that alone is over the token limit goes when the window is empty: waiting longer would
    not help it.
    """

    def __init__(
        self,
        rpm: int = 0,
        tpm: int = 0,
        window: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rpm, self._tpm, self._window, self._clock = rpm, tpm, window, clock
        self._entries: deque[AdmittedCall] = deque()
        self._paused_until = 0.0
        self._lock = Lock()

    def enter(self, tokens: int) -> AdmittedCall | float:
        """Let a call through, or say how many seconds to wait before asking again."""
        with self._lock:
            now = self._clock()
            while self._entries and self._entries[0].at <= now - self._window:
                self._entries.popleft()
            wait = max(self._paused_until - now, self._until_free(now, tokens))
            if wait > 0:
                return wait
            entry = AdmittedCall(now, tokens)
            if self._rpm or self._tpm:
                self._entries.append(entry)
            return entry

    async def turn(self, tokens: int) -> AdmittedCall:
        """Wait until a call is let through."""
        while isinstance(wait := self.enter(tokens), float):
            await asyncio.sleep(wait)
        return wait

    def correct(self, entry: AdmittedCall, tokens: int) -> None:
        """Replace the estimate of a call by what it took."""
        with self._lock:
            entry.tokens = tokens

    def pause(self, seconds: float) -> None:
        """Hold all calls back for the time that the endpoint asked for."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _until_free(self, now: float, tokens: int) -> float:
        """Seconds until enough of the oldest calls have left the window."""
        calls, used, free_at = len(self._entries), sum(entry.tokens for entry in self._entries), now
        for entry in self._entries:
            if self._fits(calls + 1, used + tokens):
                break
            calls, used, free_at = calls - 1, used - entry.tokens, entry.at + self._window
        return free_at - now

    def _fits(self, calls: int, tokens: int) -> bool:
        return (not self._rpm or calls <= self._rpm) and (not self._tpm or tokens <= self._tpm)

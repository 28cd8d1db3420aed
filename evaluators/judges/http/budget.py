"""How much a run may spend, kept so that it is never overdrawn by calls in flight."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from threading import Lock
from typing import Literal

Leave = Literal["go", "wait", "stop"]
BUDGET = "budget"
"""The reason in the answers of a request that was not judged because the money or the calls were
spent."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens and money."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    def __add__(self, usage: Usage) -> Usage:
        return Usage(self.calls + usage.calls, self.tokens + usage.tokens, self.money + usage.money)

    def __sub__(self, usage: Usage) -> Usage:
        return Usage(self.calls - usage.calls, self.tokens - usage.tokens, self.money - usage.money)


@dataclass
class Budget:
    """A spending limit that several runs and threads may share.

    A call asks for leave with the most it can cost, and settles with what it did cost. Leave that
    depends on what calls in flight turn out to cost is a wait; leave that cannot be given at all
    closes the purse for good.
    """

    calls: float = inf
    tokens: float = inf
    money: float = inf
    spent: Usage = Usage()
    exhausted: bool = False
    _held: Usage = field(default=Usage(), repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def ask(self, limit: Usage) -> Leave:
        """Whether a call of at most this cost may start; if so, the cost is held until it
        settles."""
        with self._lock:
            if self.exhausted or not self._fits(self.spent + limit):
                self.exhausted = True
                return "stop"
            if not self._fits(self.spent + self._held + limit):
                return "wait"
            self._held += limit
            return "go"

    def settle(self, limit: Usage, cost: Usage) -> None:
        """Give back what was held for a call, and book what it cost."""
        with self._lock:
            self._held -= limit
            self.spent += cost

    def _fits(self, sum_: Usage) -> bool:
        return sum_.calls <= self.calls and sum_.tokens <= self.tokens and sum_.money <= self.money

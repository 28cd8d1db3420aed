"""How long a submission's model may work on our machines: the time is the submitter's, and what is
past it is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


class OverGpuTime(Exception):
    """The model took longer than a submission may; the message says how long and what to do."""


@dataclass
class GpuTime:
    """Seconds of generation that a submission has spent, and how many it has."""

    limit: float
    spent: float = 0.0
    clock: Callable[[], float] = time.monotonic
    since: float = field(init=False)
    """When the time in work that is not counted yet began."""

    def __post_init__(self) -> None:
        self.since = self.clock()

    def count(self, seconds: float) -> None:
        """A shard has ended that took so long."""
        self.spent += seconds
        self.since = self.clock()

    def wait(self) -> None:
        """Nothing of it is in work just now: waiting for a machine is not the model's time."""
        self.since = self.clock()

    def check(self) -> None:
        """OverGpuTime when nothing is left. Of shards in work at the same time one is counted, so
        nobody is stopped early."""
        spent = self.spent + self.clock() - self.since
        if spent > self.limit:
            raise OverGpuTime(
                f"Its model worked for {spent / 3600:.1f} hours and was not through; a submission "
                f"has {self.limit / 3600:g}. Take fewer steps, a smaller size or a smaller subset, "
                "or generate the outputs yourselves and hand them in."
            )

"""Buys one clip: written down first, posted with a key, waited for across kills, fetched without
its sound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evaluators.media import drop_sound
from evaluators.models.generate.endpoints.connection import (
    EndpointDown,
    EndpointRefused,
    MediaConnection,
)
from evaluators.models.generate.endpoints.ledger import Ledger, Price, purchase_key
from evaluators.models.generate.endpoints.protocols import (
    MOST_CLIP_BYTES,
    ClipRequest,
    JobState,
    VideoProtocol,
)

MOST_JOBS = 3
"""So often a job that the endpoint lost is begun anew."""


@dataclass(frozen=True, slots=True)
class BoughtClip:
    """A clip, what it cost, how many jobs it took, and whether it came with sound."""

    path: Path
    price: float
    jobs: int
    had_sound: bool


@dataclass(frozen=True, slots=True)
class ClipShop:
    """Where clips of one model are bought; `deadline` is for one clip in seconds."""

    protocol: VideoProtocol
    model: str
    price: Price
    ledger: Ledger
    deadline: float
    pause: float = 2.0
    clock: Callable[[], float] = time.monotonic

    def buy(
        self, connection: MediaConnection, clip: ClipRequest, purpose: str, to: Path
    ) -> BoughtClip:
        """The clip for this purpose; asked again for the same one, the same job is waited for. A
        filter's word or a wrong request is EndpointRefused, all else EndpointDown."""
        cost = self.price.of_clip(clip.seconds)
        for number in range(1, MOST_JOBS + 1):
            key = purchase_key(purpose, number)
            job = self.ledger.job(key) or self._begin(connection, clip, key, cost)
            ended = self._ended(connection, job)
            if ended.state == "finished":
                to.write_bytes(connection.fetch(ended.clip, MOST_CLIP_BYTES))
                return BoughtClip(to, round(cost * number, 6), number, drop_sound(to))
            if ended.state != "lost":
                raise EndpointRefused(
                    f"The video endpoint says {ended.state}: {ended.why}", ended.state == "blocked"
                )
        raise EndpointDown(f"The video endpoint lost {MOST_JOBS} jobs in a row ({ended.why}).")

    def _begin(self, connection: MediaConnection, clip: ClipRequest, key: str, cost: float) -> str:
        self.ledger.buy(key, cost)
        job = self.protocol.begin(connection, self.model, clip, key)
        self.ledger.note_job(key, job)
        return job

    def _ended(self, connection: MediaConnection, job: str) -> JobState:
        until = self.clock() + self.deadline
        while self.clock() < until:
            state = self.protocol.look(connection, job)
            if state.state != "running":
                return state
            connection.sleep(self.pause)
        raise EndpointDown(
            f"No clip within {self.deadline:g} seconds, which is our limit. Evaluated again, the "
            "same job is waited for."
        )

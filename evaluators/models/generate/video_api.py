"""Video models behind an endpoint: clips from words for a suite, from a frame for an agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evaluators.agents.film import fit_frame
from evaluators.agents.video_model import FilmedClip, GeneratorFailed, Notes, profile_of
from evaluators.contracts import Json, Outcome, Output, Sample
from evaluators.media import read_image, sha256_file, write_png
from evaluators.models.generate.endpoints.connection import (
    EndpointDown,
    EndpointRefused,
    MediaConnection,
    MediaEndpoint,
    connect,
)
from evaluators.models.generate.endpoints.jobs import BoughtClip, ClipShop
from evaluators.models.generate.endpoints.ledger import (
    UNPRICED,
    FreeLedger,
    Ledger,
    Price,
    purchase_key,
)
from evaluators.models.generate.endpoints.protocols import ClipRequest, protocol_of

__all__ = ["ApiFilms", "EndpointDown", "HttpVideo", "VideoEndpoint"]


@dataclass(frozen=True, slots=True)
class VideoEndpoint:
    """Where the model is and how it films; `deadline` is for one clip in seconds. An empty `size`
    is the model's own. `hosts` besides the endpoint's own may serve its clips."""

    base_url: str
    model: str
    revision: str
    api_key: str = field(default="", repr=False)
    seconds: int = 4
    size: str = "832x480"
    languages: str = "English"
    deadline: float = 1800.0
    pause: float = 2.0
    tries: int = 5
    protocol: Literal["openai", "predictions"] = "openai"
    hosts: tuple[str, ...] = ()
    concurrency: int = 4
    price: Price = UNPRICED

    def place(self) -> MediaEndpoint:
        """How it is called."""
        return MediaEndpoint(
            self.base_url, self.api_key, tries=self.tries, pause=self.pause, hosts=self.hosts
        )

    def shop(self, ledger: Ledger, clock: Callable[[], float] = time.monotonic) -> ClipShop:
        """Where its clips are bought."""
        protocol = protocol_of(self.protocol, self.revision)
        return ClipShop(protocol, self.model, self.price, ledger, self.deadline, self.pause, clock)


@dataclass(frozen=True)
class HttpVideo:
    """Films behind an endpoint, for an agent. The job's number is noted, so that after a kill the
    same job is waited for. `purpose` tells one submission's purchases from another's."""

    endpoint: VideoEndpoint
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    ledger: Ledger | None = None
    purpose: str = ""

    @property
    def name(self) -> str:
        """Model and snapshot; where it is served does not matter."""
        place = self.endpoint
        return f"{place.model}@{place.revision}, {place.seconds} seconds, {place.size}"

    @property
    def profile(self) -> str:
        """What a caption writer has to know."""
        place = self.endpoint
        return profile_of(place.model, place.seconds, place.size, place.languages)

    def make(self, frame: Path, caption: str, seed: int, to: Path, notes: Notes) -> FilmedClip:
        """Film one clip, from the frame in the size of the clip."""
        width, height = map(int, self.endpoint.size.split("x"))
        fitted = fit_frame(read_image(frame), width, height)
        sent = write_png(fitted.pixels, to.with_name("frame-sent.png"))
        place = self.endpoint
        clip = ClipRequest(caption, place.seconds, place.size, seed, sent.read_bytes())
        purpose = purchase_key(self.purpose, self.name, caption, seed, sha256_file(sent))
        first = purchase_key(purpose, 1)
        shop = place.shop(NotedLedger(notes, first, self.ledger or FreeLedger()), self.clock)
        try:
            with connect(place.place(), self.sleep) as connection:
                bought = shop.buy(connection, clip, purpose, to)
        except EndpointRefused as refused:
            raise GeneratorFailed(str(refused)) from refused
        sound = "; its sound was dropped" if bought.had_sound else ""
        return FilmedClip(bought.path, fitted=f"{fitted.rule}{sound}")


@dataclass(frozen=True, slots=True)
class NotedLedger:
    """A ledger that keeps the first job's number in an agent's notes for the clip."""

    notes: Notes
    first: str
    inner: Ledger

    def buy(self, key: str, price: float) -> None:
        """Count it."""
        self.inner.buy(key, price)

    def job(self, key: str) -> str:
        """The number that was noted."""
        if key == self.first:
            return (self.notes.get() or b"").decode()
        return self.inner.job(key)

    def note_job(self, key: str, job: str) -> None:
        """Note the first, hand on the rest."""
        if key == self.first:
            self.notes.put(job.encode())
        else:
            self.inner.note_job(key, job)


class ApiFilms:
    """Asks for one clip a sample, several at once; a filter's word is `blocked`, a wrong request
    the model's failure, all else stops the shard and not the samples."""

    def __init__(
        self,
        endpoint: VideoEndpoint,
        ledger: Ledger | None = None,
        purpose: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint, self.purpose, self.sleep = endpoint, purpose, sleep
        self.shop = endpoint.shop(ledger or FreeLedger())

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """Outputs in the order of the samples."""
        folder.mkdir(parents=True, exist_ok=True)
        with (
            connect(self.endpoint.place(), self.sleep) as connection,
            ThreadPoolExecutor(self.endpoint.concurrency) as pool,
        ):
            yield from pool.map(lambda sample: self._filmed(connection, sample, folder), samples)

    def _filmed(self, connection: MediaConnection, sample: Sample, folder: Path) -> Output:
        clip = ClipRequest(sample.prompt, self.endpoint.seconds, self.endpoint.size)
        purpose = purchase_key(self.purpose, self.endpoint.model, self.endpoint.revision, sample.id)
        try:
            bought = self.shop.buy(connection, clip, purpose, folder / f"{sample.id}.mp4")
        except EndpointRefused as refused:
            outcome = Outcome.BLOCKED if refused.blocked else Outcome.MODEL_FAILED
            return Output(sample.id, outcome, record=self._record(), reason=str(refused)[:300])
        return Output(sample.id, Outcome.SCORED, bought.path, self._record(bought))

    def _record(self, bought: BoughtClip | None = None) -> dict[str, Json]:
        """What is needed to ask again; such an API promises no seed, so the clip will be
        another."""
        place = self.endpoint
        record: dict[str, Json] = {
            "api": place.model,
            "snapshot": place.revision,
            "protocol": place.protocol,
            "seconds": place.seconds,
            "size": place.size or "auto",
        }
        if bought is None:
            return record
        sound: dict[str, Json] = {"sound": "dropped"} if bought.had_sound else {}
        return record | {"price": bought.price, "jobs": bought.jobs} | sound

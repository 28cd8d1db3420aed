"""Generators behind an OpenAI-compatible image API: one call a picture, blocked ones told from
broken ones."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.contracts import CannotProduce, Json, Outcome, Output, Sample
from evaluators.models.generate.endpoints.connection import (
    EndpointRefused,
    MediaEndpoint,
    connect,
    is_blocked,
)
from evaluators.models.generate.endpoints.ledger import (
    UNPRICED,
    FreeLedger,
    Ledger,
    Price,
    purchase_key,
)

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

SUFFIXES = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"RIFF": ".webp"}
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ImageApi:
    """Where the model is and which; `snapshot` is the state of it that the provider names."""

    base_url: str
    model: str
    snapshot: str
    api_key: str = field(default="", repr=False)
    concurrency: int = 4
    tries: int = 6
    deadline: float = 300.0
    hosts: tuple[str, ...] = ()
    """Hosts besides its own from which its pictures may be fetched."""
    price: Price = UNPRICED


class ApiGenerator:
    """Asks for one picture a sample; the client waits and tries again when the endpoint is busy for
    a moment."""

    def __init__(
        self,
        api: ImageApi,
        height: int | None = None,
        width: int | None = None,
        ledger: Ledger | None = None,
        purpose: str = "",
    ) -> None:
        self.api, self.ledger, self.purpose = api, ledger or FreeLedger(), purpose
        self.size = f"{width}x{height}" if height and width else "auto"

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """Outputs in the order of the samples; an endpoint that stays away stops the shard, not the
        items."""
        folder.mkdir(parents=True, exist_ok=True)
        with self._client() as client, ThreadPoolExecutor(self.api.concurrency) as pool:
            yield from pool.map(lambda sample: self._one(client, sample, folder), samples)

    def _client(self) -> OpenAI:
        from openai import OpenAI

        api = self.api
        if not api.base_url:
            raise CannotProduce(
                "No image API is set. Set ARMILLARY_IMAGE_URL and ARMILLARY_IMAGE_KEY."
            )
        return OpenAI(
            base_url=api.base_url,
            api_key=api.api_key or "none",
            max_retries=api.tries,
            timeout=api.deadline,
        )

    def _one(self, client: OpenAI, sample: Sample, folder: Path) -> Output:
        from openai import APIStatusError

        record = self._record()
        size: Any = {} if self.size == "auto" else {"size": self.size}
        key = purchase_key(self.purpose, self.api.model, self.api.snapshot, self.size, sample.id)
        self.ledger.buy(key, self.api.price.picture)
        try:
            response = client.images.generate(
                model=self.api.model,
                prompt=sample.prompt,
                n=1,
                extra_headers={"Idempotency-Key": key},
                **size,
            )
        except APIStatusError as error:
            return self._refused(error, sample, record)
        try:
            data = self._picture(response.data[0] if response.data else None)
        except EndpointRefused as refused:
            return Output(sample.id, Outcome.MODEL_FAILED, record=record, reason=str(refused))
        suffix = next((name for start, name in SUFFIXES.items() if data.startswith(start)), ".png")
        path = folder / f"{sample.id}{suffix}"
        path.write_bytes(data)
        return Output(sample.id, Outcome.SCORED, path, record)

    def _picture(self, answer: Any) -> bytes:
        """The picture in the answer, or at the address that it names."""
        if answer is not None and not answer.b64_json and answer.url:
            api = self.api
            with connect(
                MediaEndpoint(api.base_url, api.api_key, api.tries, 1.0, hosts=api.hosts)
            ) as home:
                return home.fetch(answer.url, MOST_BYTES)
        data = _bytes(answer.b64_json if answer else None)
        if data is None:
            raise EndpointRefused("The API answered without a picture in b64_json or url.")
        return data

    def _refused(self, error: APIStatusError, sample: Sample, record: dict[str, Json]) -> Output:
        """A filter's word is `blocked`, a wrong request the model's failure; all else is ours and
        stops the shard."""
        reported = self._without_key(f"{error.code or ''} {error.type or ''} {error.message}")
        if error.status_code in (401, 403, 404):
            raise CannotProduce(
                f"The image API refuses {self.api.model}: HTTP {error.status_code}. Check URL and "
                "key."
            )
        if error.status_code >= 500 or error.status_code in (408, 409, 425, 429):
            raise error
        return Output(
            sample.id,
            Outcome.BLOCKED if is_blocked(reported) else Outcome.MODEL_FAILED,
            record=record,
            reason=reported[:300],
        )

    def _without_key(self, text: str) -> str:
        return text.replace(self.api.api_key, "[key]") if self.api.api_key else text

    def _record(self) -> dict[str, Json]:
        """What is needed to ask again; such an API takes no seed, so the picture will be
        another."""
        from openai import __version__

        return {
            "api": self.api.model,
            "snapshot": self.api.snapshot,
            "size": self.size,
            "price": self.api.price.picture,
            "openai": __version__,
        }


def _bytes(encoded: str | None) -> bytes | None:
    if not encoded or len(encoded) > MOST_BYTES * 4 // 3:
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None

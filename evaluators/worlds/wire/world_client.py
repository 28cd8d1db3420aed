"""A world model behind a URL: its card by GET /card as JSON, everything else by POST as msgpack."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np

from evaluators.contracts.world_model import (
    FORWARD,
    INPAINT,
    INVERSE,
    MODES,
    ForwardRequest,
    Inpaint,
    InpaintRequest,
    Inverse,
    InverseRequest,
    WorldCard,
    WorldFault,
)
from evaluators.worlds.wire.arrays import BadMessage, pack, unpack

MOST_BYTES = 4 << 30
SECONDS = 900.0
"""A large world may take minutes for a batch of chunks."""

WAITS = (0.5, 2.0, 8.0)
"""Before it is asked again when the line broke: a server that restarts, say."""

WorldRequest = ForwardRequest | InverseRequest | InpaintRequest


@dataclass(frozen=True, slots=True)
class RemoteWorld:
    """A world model at an address; `card` is what it said when it was opened."""

    url: str
    card: WorldCard

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Any]:
        """Frames after each action."""
        return self._ask(FORWARD, requests)

    @property
    def inverse(self) -> Inverse | None:
        """Actions read off a video, where the card names it."""
        return self._inverse if INVERSE in self.card.modes else None

    @property
    def inpaint(self) -> Inpaint | None:
        """The other views, where the card names it."""
        return self._inpaint if INPAINT in self.card.modes else None

    def _inverse(self, requests: Sequence[InverseRequest]) -> list[Any]:
        return self._ask(INVERSE, requests)

    def _inpaint(self, requests: Sequence[InpaintRequest]) -> list[Any]:
        return self._ask(INPAINT, requests)

    def _ask(self, mode: str, requests: Sequence[WorldRequest]) -> list[Any]:
        message = unpack_answer(self.url, fetch(f"{self.url}/{mode}", pack_requests(requests)))
        answers = message.get("answers")
        if not isinstance(answers, list):
            raise WorldFault(f"{self.url}/{mode} answered without a list of answers.")
        return [np.asarray(answer) for answer in answers]


def connect(url: str) -> RemoteWorld:
    """The world at an address; WorldFault says what is wrong with what answers there."""
    address = url.rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise WorldFault(f"The address {url!r} is not one of http. Write http://host:port.")
    try:
        return RemoteWorld(address, read_card(json.loads(fetch(f"{address}/card"))))
    except json.JSONDecodeError:
        raise WorldFault(
            f"{address}/card is not JSON. Answer with the card as an object."
        ) from None


def read_card(entries: Mapping[str, Any]) -> WorldCard:
    """A card out of what JSON says."""
    known = {field.name for field in fields(WorldCard)}
    try:
        lists = {name: tuple(value) for name, value in entries.items() if isinstance(value, list)}
        card = WorldCard(**{k: v for k, v in {**entries, **lists}.items() if k in known})
        whole = min(card.height, card.width, card.context, card.chunk, card.action_dim) >= 1
    except (TypeError, AttributeError) as error:
        raise WorldFault(f"The world's card does not fit ({error}).") from None
    if not whole or not card.views or not set(card.modes) <= set(MODES):
        raise WorldFault(
            f"The world's card does not fit: {card}. It has to name its views, sizes of at least "
            f"1, and modes out of {', '.join(MODES)}."
        )
    return card


def pack_requests(requests: Sequence[WorldRequest]) -> bytes:
    """Requests as a message: a map of its fields each."""
    rows = [
        {field.name: getattr(request, field.name) for field in fields(request)}
        for request in requests
    ]
    return pack({"requests": rows})


def unpack_answer(url: str, data: bytes) -> Mapping[str, Any]:
    """The map that a server answered with."""
    try:
        message = unpack(data)
    except BadMessage as error:
        raise WorldFault(f"{url} answered with something else than a message: {error}") from None
    if not isinstance(message, Mapping):
        raise WorldFault(f"{url} answered with a {type(message).__name__} instead of a map.")
    return message


def fetch(url: str, body: bytes | None = None) -> bytes:
    """What a server answers; asked again where the line broke, WorldFault where it says no."""
    request = Request(url, body, {"Content-Type": "application/msgpack"})  # noqa: S310 (checked by connect)
    for wait in (*WAITS, None):
        try:
            with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
                return bytes(answer.read(MOST_BYTES))
        except HTTPError as error:
            words = error.read(2000).decode("utf-8", "replace").strip()
            raise WorldFault(f"{url} answered {error.code}: {words or error.reason}") from None
        except (URLError, OSError) as error:
            if wait is None:
                raise WorldFault(f"{url} did not answer ({error}). Is it running?") from None
            time.sleep(wait)
    raise AssertionError("the last wait is None")

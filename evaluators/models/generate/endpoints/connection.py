"""Calls to an endpoint that makes pictures or clips: tried again with the same key, refusals told
from faults, files fetched from known hosts only."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from evaluators.contracts import CannotProduce

BLOCKED = ("content_policy", "moderation", "safety", "content_filter", "responsible_ai", "nsfw")
"""How endpoints call a prompt or a result that their filter stopped: in the error's code, its type
or its words."""
BUSY = frozenset({408, 409, 425, 429})
OPERATORS = frozenset({401, 402, 403, 404})
"""A wrong key, no money, no right, no such model: the operator's to mend."""
LONGEST_WAIT = 120.0


class EndpointDown(CannotProduce):
    """The endpoint does not answer as it should: not the model's fault. Try again later."""


class EndpointRefused(Exception):
    """The endpoint refuses this prompt; `blocked` if a filter of its own does."""

    def __init__(self, text: str, blocked: bool = False) -> None:
        super().__init__(text)
        self.blocked = blocked


@dataclass(frozen=True, slots=True)
class MediaEndpoint:
    """Where an endpoint is and how it is called; `hosts` besides its own may serve its files."""

    base_url: str
    api_key: str = field(default="", repr=False)
    tries: int = 5
    pause: float = 2.0
    seconds: float = 120.0
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MediaConnection:
    """An open client of one endpoint."""

    place: MediaEndpoint
    client: httpx.Client
    sleep: Callable[[float], None] = time.sleep

    def call(self, method: str, path: str, key: str = "", **body: Any) -> httpx.Response:
        """A call that is answered. With a key it costs money: every try carries it."""
        headers = {"Idempotency-Key": key} if key else {}
        return self._tried(lambda: self.client.request(method, path, headers=headers, **body))

    def page(self, method: str, path: str, key: str = "", **body: Any) -> dict[str, Any]:
        """The JSON object that a call is answered with."""
        try:
            page = json.loads(self.call(method, path, key, **body).content)
        except ValueError:
            page = None
        if not isinstance(page, dict):
            raise EndpointDown("The endpoint sent something else than a JSON object.")
        return page

    def fetch(self, address: str, most: int) -> bytes:
        """A file that the endpoint named by its address, from its own host or a named one; the key
        goes to its own host only."""
        address = urljoin(self.place.base_url, address)
        own, there = urlsplit(self.place.base_url), urlsplit(address)
        at_home = (there.scheme, there.netloc) == (own.scheme, own.netloc)
        if not at_home and not (there.scheme == "https" and there.hostname in self.place.hosts):
            raise EndpointRefused(
                f"The endpoint answered with a file on {there.hostname!r}, which is not its own "
                "host; an operator can allow it in ARMILLARY_MEDIA_HOSTS."
            )
        headers = {} if at_home else {"authorization": ""}
        return self._tried(lambda: self._bounded(address, headers, most)).content

    def _bounded(self, address: str, headers: dict[str, str], most: int) -> httpx.Response:
        """A download that ends at so many bytes; nothing sends us elsewhere."""
        with self.client.stream("GET", address, headers=headers) as answer:
            data = bytearray()
            for chunk in answer.iter_bytes():
                data += chunk
                if len(data) > most:
                    raise EndpointRefused(f"The file has over {most} bytes.")
            if answer.is_redirect:
                raise EndpointRefused("The endpoint sends us elsewhere for its file.")
            return httpx.Response(answer.status_code, headers=_plain(answer), content=bytes(data))

    def _tried(self, attempt: Callable[[], httpx.Response]) -> httpx.Response:
        problem = ""
        for number in range(self.place.tries):
            wait = min(30.0, self.place.pause * 2**number)
            try:
                answer = attempt()
            except httpx.HTTPError as error:
                problem = type(error).__name__
            else:
                if answer.is_success:
                    return answer
                problem = f"HTTP {answer.status_code}"
                if answer.status_code < 500 and answer.status_code not in BUSY:
                    raise self._refusal(answer)
                wait = max(wait if not answer.headers.get("retry-after") else 0.0, _asked(answer))
            self.sleep(wait)
        raise EndpointDown(f"The endpoint does not answer ({problem}). Evaluate it again later.")

    def _refusal(self, answer: httpx.Response) -> Exception:
        words = self.without_key(error_words(_json(answer)) or answer.text[:300])
        blocked = is_blocked(words)
        if answer.status_code in OPERATORS and not blocked:
            return CannotProduce(
                f"The endpoint refuses us: HTTP {answer.status_code}. Check URL, key, model and "
                "account."
            )
        return EndpointRefused(f"HTTP {answer.status_code}: {words}"[:300], blocked)

    def without_key(self, text: str) -> str:
        """Words of the endpoint that do not repeat our key."""
        return text.replace(self.place.api_key, "[key]") if self.place.api_key else text


@contextmanager
def connect(
    place: MediaEndpoint, sleep: Callable[[float], None] = time.sleep
) -> Iterator[MediaConnection]:
    """Open a client; proxies of the environment do not count."""
    headers = {"authorization": f"Bearer {place.api_key}"} if place.api_key else {}
    base = place.base_url.rstrip("/")
    with httpx.Client(
        base_url=base, headers=headers, timeout=place.seconds, trust_env=False
    ) as client:
        yield MediaConnection(place, client, sleep)


def is_blocked(words: str) -> bool:
    """Whether an endpoint's words tell of its filter.

    >>> is_blocked("moderation_blocked: no"), is_blocked("invalid size")
    (True, False)
    """
    return any(word in words.lower() for word in BLOCKED)


def error_words(page: Any) -> str:
    """Code, type and message of an error, however an endpoint lays it out."""
    error = page.get("error", page) if isinstance(page, dict) else page
    if isinstance(error, dict):
        names = ("code", "type", "message", "detail", "title")
        return " ".join(str(error[name]) for name in names if error.get(name))[:300]
    return str(error or "")[:300]


def _json(answer: httpx.Response) -> Any:
    try:
        return json.loads(answer.content)
    except ValueError:
        return {}


def _asked(answer: httpx.Response) -> float:
    """How long it asks us to wait."""
    try:
        return min(LONGEST_WAIT, max(0.0, float(answer.headers.get("retry-after", ""))))
    except ValueError:
        return 0.0


def _plain(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name == "retry-after"}

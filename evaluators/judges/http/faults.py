"""Failures of a call in transport, and how long to wait before the next try."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from random import SystemRandom

AGAIN = frozenset({408, 409, 425, 429})
BUSY = 429
LONGEST_BACKOFF = 30.0
MINUTE = 60.0
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([^"]{1,20})"')
JITTER = SystemRandom()


@dataclass(eq=False)
class Fault(Exception):
    """A call that brought no completion: why, whether to try again, the wait asked for, whether it
    may be billed."""

    reason: str
    again: bool = True
    after: float = 0.0
    billed: bool = False
    body: str = ""

    def __str__(self) -> str:
        return self.reason


def refused(status: int, headers: Mapping[str, str], reason: str, body: str) -> Fault:
    """The fault in an HTTP error: a busy or broken server is asked again, a wrong request is
    not."""
    again = status in AGAIN or status >= 500
    wait = retry_after(headers) or (free_after(headers, body) if status == BUSY else 0.0)
    return Fault(f"HTTP {status}: {reason}", again, wait if again else 0.0, body=body)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds the endpoint wants us to wait: milliseconds, seconds or a date; 0 when it does not
    say.

    >>> retry_after({"retry-after": "7"}), retry_after({"retry-after-ms": "250"}), retry_after({})
    (7.0, 0.25, 0.0)
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after", "")
    seconds = _number(header)
    return seconds if seconds is not None else _until(header)


def free_after(headers: Mapping[str, str], body: str) -> float:
    """Seconds until a limit by the minute is free again, where the endpoint names no Retry-After:
    from the headers of the limit that is used up, or from a `retryDelay` in the body.

    >>> free_after({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6.5s"}, "")
    6.5
    >>> free_after({}, '{"error": {"details": [{"retryDelay": "34s"}]}}')
    34.0
    """
    waits = [
        _duration(headers.get(f"x-ratelimit-reset-{limit}", ""))
        for limit in ("tokens", "requests")
        if _number(headers.get(f"x-ratelimit-remaining-{limit}", "")) == 0
    ]
    named = RETRY_DELAY.search(body)
    return min(max(waits, default=0.0), MINUTE) or (_duration(named[1]) if named else 0.0)


def wait_before(attempt: int, fault: Fault, first: float) -> float:
    """Seconds before the next try: what the endpoint asked for if anything, else doubling; always
    with jitter."""
    backoff = min(LONGEST_BACKOFF, first * 2**attempt)
    if fault.after:
        return fault.after + JITTER.uniform(0, first)
    return JITTER.uniform(backoff / 2, backoff)


def _duration(text: str) -> float:
    """Seconds in a text such as 1m30s or 250ms."""
    return sum(float(number) * UNITS[unit] for number, unit in DURATION.findall(text))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if isfinite(value) else None


def _until(date: str) -> float:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return 0.0
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds())

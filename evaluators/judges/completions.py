"""What an endpoint sends back for one call, read from the body as it came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

CUT_OFF = frozenset({"length", "max_tokens"})


class Malformed(ValueError):
    """The body is not a chat completion with exactly one choice; the message says what it is."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One choice: what was said, how it ended, and the tokens the endpoint counted (None when it
    did not)."""

    text: str
    finish: str = "stop"
    refusal: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None

    @property
    def cut_off(self) -> bool:
        """Whether the token limit ended it; thinking counts against the limit of many models."""
        return self.finish.lower() in CUT_OFF

    def after(self, earlier: Completion) -> Completion:
        """This completion with the tokens of an earlier one that it replaces."""
        return replace(
            self,
            tokens_in=_sum(earlier.tokens_in, self.tokens_in),
            tokens_out=_sum(earlier.tokens_out, self.tokens_out),
        )


def parse_body(body: str) -> Completion:
    """The completion in a body. Two choices are refused: nobody can say which of them is the
    judgement."""
    page = _object(body)
    choices = page.get("choices")
    if not isinstance(choices, list) or len(choices) != 1:
        received = f"{len(choices)} choices" if isinstance(choices, list) else "no list of choices"
        raise Malformed(f"the endpoint gave {received} instead of one choice")
    choice = choices[0] if isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Malformed("the endpoint gave a choice without a message")
    return Completion(
        text=_words(message.get("content")),
        finish=_words(choice.get("finish_reason")),
        refusal=_words(message.get("refusal")),
        tokens_in=_count(page, "prompt_tokens"),
        tokens_out=_count(page, "completion_tokens"),
    )


def _object(body: str) -> dict[str, Any]:
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        kind = (
            "a web page"
            if body.lstrip()[:1] == "<"
            else "no JSON"
            if body.strip()
            else "an empty body"
        )
        raise Malformed(f"the endpoint sent {kind}") from None
    if not isinstance(page, dict):
        raise Malformed("the endpoint sent JSON that is not an object")
    return page


def _words(value: object) -> str:
    """Text, or the text parts of a list of parts, or nothing."""
    if isinstance(value, list):
        return "".join(_words(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _count(page: Mapping[str, Any], name: str) -> int | None:
    usage = page.get("usage")
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

"""What endpoints of a family take and do not take: thinking inside the limit, refused fields and
parts, tokens a minute."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

ANSWER_TOKENS = 20
PROMPT_TOKENS = 100
LIMITS = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True)
class Family:
    """Tokens that a reply is thought about, fields and kinds of parts that are refused, and tokens
    that a window of so many seconds may hold (0: any)."""

    thinking: int = 0
    refuses: tuple[str, ...] = ()
    tokens: int = 0
    window: float = 1.0


TAKES_ALL = Family()


@dataclass(frozen=True)
class Refusal:
    """An HTTP error with its headers."""

    status: str
    body: str
    headers: str = ""


@dataclass
class FamilyState:
    """A family with the calls that its window holds."""

    family: Family
    admitted: deque[tuple[float, int]] = field(default_factory=deque)

    def refusal(self, call: dict[str, Any]) -> Refusal | None:
        """Why a call is turned away, if it is."""
        for name in self.family.refuses:
            if name in call or name in part_kinds(call):
                message = f"Unsupported parameter or content: '{name}'."
                return Refusal("400 Bad Request", json.dumps({"error": {"message": message}}))
        return self._too_many_tokens(call) if self.family.tokens else None

    def cut_off(self, call: dict[str, Any]) -> bool:
        """Whether thinking leaves no room for the answer."""
        return limit_of(call) < self.family.thinking + ANSWER_TOKENS

    def usage(self, call: dict[str, Any]) -> tuple[int, int]:
        """Tokens in and out of a call."""
        return PROMPT_TOKENS, min(limit_of(call), self.family.thinking + ANSWER_TOKENS)

    def _too_many_tokens(self, call: dict[str, Any]) -> Refusal | None:
        now, need = time.monotonic(), PROMPT_TOKENS + limit_of(call)
        while self.admitted and self.admitted[0][0] <= now - self.family.window:
            self.admitted.popleft()
        if sum(tokens for _, tokens in self.admitted) + need <= self.family.tokens:
            self.admitted.append((now, need))
            return None
        wait = round(1000 * (self.admitted[0][0] + self.family.window - now)) + 1
        headers = f"x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: {wait}ms\r\n"
        body = json.dumps({"error": {"message": "Rate limit reached for tokens per min."}})
        return Refusal("429 Too Many Requests", body, headers)


def limit_of(call: dict[str, Any]) -> int:
    """The token limit of a call, by whichever name."""
    return int(next(call[name] for name in LIMITS if name in call))


def part_kinds(call: dict[str, Any]) -> set[str]:
    """The kinds of all parts of all messages."""
    contents = [message["content"] for message in call["messages"]]
    return {part["type"] for parts in contents if isinstance(parts, list) for part in parts}

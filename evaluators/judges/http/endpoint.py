"""The settings of a judge behind an endpoint, and what follows from them: its card, a call's body,
and its price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from evaluators.contracts import JudgeCard, Question
from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import Usage
from evaluators.judges.menus import schema
from evaluators.judges.prompts import ENCODING, Message, prompt_sha256
from evaluators.judges.replies import REASONING
from evaluators.media import frame_indices

CODE = "http-2"
"""Raise the number when the code asks or reads differently."""

REPLY_RETRIES = 2
LETTERS_A_TOKEN = 3
SHORTEST_KEY = 8


@dataclass(frozen=True, slots=True)
class HttpJudgeConfig:
    """Address, model, decoding and limits of a judge behind an endpoint.

    `revision` is the snapshot of an API or the revision of served weights. Prices are for a million
    tokens. `deadline` is for one call in seconds, `tries` how often a call is made before a fault
    of the transport stands, `patience` the longest Retry-After that is waited for. `image_tokens`
    is a guess for limits and budget until the endpoint counts.
    """

    base_url: str
    model: str
    revision: str
    api_key: str = field(default="", repr=False)
    frames: str = "uniform-8"
    temperature: float | None = 0.0
    max_tokens: int = 4096
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    structured: bool = False
    concurrency: int = 8
    rpm: int = 0
    tpm: int = 0
    deadline: float = 120.0
    tries: int = 8
    backoff: float = 0.5
    patience: float = 120.0
    price_in: float = 0.0
    price_out: float = 0.0
    image_tokens: int = 1000

    def __post_init__(self) -> None:
        url = urlsplit(self.base_url)
        if url.scheme not in {"http", "https"} or not url.hostname or url.password:
            raise ValueError(
                "The base_url must be http(s)://host[:port]/path, without a password. The key goes "
                "in api_key."
            )
        if not self.model or not self.revision:
            raise ValueError(
                "Give the model and its revision (the API's snapshot): a verdict must say who "
                "judged."
            )
        if min(self.concurrency, self.tries, self.max_tokens, self.deadline) <= 0:
            raise ValueError("concurrency, tries, max_tokens and deadline must be above 0.")
        frame_indices(self.frames, 1)

    @property
    def card(self) -> JudgeCard:
        """Who judges. The key is no part of it."""
        url = urlsplit(self.base_url)
        temperature = "default" if self.temperature is None else f"{self.temperature:g}"
        form = "json_schema" if self.structured else "json in text"
        return JudgeCard(
            name=f"{self.model} at {url.hostname}{f':{url.port}' if url.port else ''}",
            kind="auto",
            model=self.model,
            revision=self.revision,
            prompt_sha256=prompt_sha256(structured=self.structured),
            decoding=f"temperature {temperature}, {self.max_tokens} tokens, {form}, "
            f"{REPLY_RETRIES} retries",
            frames=f"{self.frames}, {ENCODING}",
            precision="as served",
            code=CODE,
        )

    def body(self, messages: Sequence[Message], questions: Sequence[Question]) -> dict[str, Any]:
        """What is posted for one call."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [*messages],
            self.limit_name: self.max_tokens,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.structured:
            form = {"name": "answers", "strict": True, "schema": schema(questions, REASONING)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def most(self, messages: Sequence[Message]) -> Usage:
        """What one call may cost at most, with the tokens of its words and pictures estimated."""
        return self._spent(sum(self._tokens(message) for message in messages), self.max_tokens)

    def cost(self, completion: Completion, limit: Usage) -> Usage:
        """What a call cost; without token counts from the endpoint, the limit is booked."""
        if completion.tokens_in is None or completion.tokens_out is None:
            return limit
        return self._spent(completion.tokens_in, completion.tokens_out)

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6

    def redact(self, text: str) -> str:
        """Text without the key: an endpoint may quote it in an error."""
        return text.replace(self.api_key, "[key]") if len(self.api_key) >= SHORTEST_KEY else text

    def _spent(self, tokens_in: int, tokens_out: int) -> Usage:
        return Usage(1, tokens_in + tokens_out, self.price(tokens_in, tokens_out))

    def _tokens(self, message: Message) -> int:
        content = message["content"]
        parts = content if isinstance(content, list) else [{"text": content}]
        words = [
            str(part.get("text", ""))
            for part in parts
            if isinstance(part, dict) and "image_url" not in part
        ]
        return (
            sum(map(len, words)) // LETTERS_A_TOKEN + (len(parts) - len(words)) * self.image_tokens
        )

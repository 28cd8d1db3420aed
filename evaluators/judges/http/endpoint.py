"""The settings of a judge behind an endpoint, and what follows from them: its card, a call's body,
and its price."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from evaluators.contracts import JudgeCard, Question
from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import Usage
from evaluators.judges.menus import schema
from evaluators.judges.prompts import Message, prompt_sha256
from evaluators.judges.replies import REASONING
from evaluators.judges.showing import PLAIN, MediaForm, check_frames, is_video

CODE = "http-2"
"""Raise the number when the code asks or reads differently."""

REPLY_RETRIES = 2
LETTERS_A_TOKEN = 3
SHORTEST_KEY = 8
KEY_MARK = "${KEY}"
WIDER = 2
VIDEO_IMAGES = 16
"""As many pictures as a video is taken for, until the endpoint counts its tokens."""

REFUSING = frozenset({400, 404, 415, 422})


@dataclass(frozen=True, slots=True)
class HttpJudgeConfig:
    """Address, model, decoding and limits of a judge behind an endpoint.

    `revision` is the snapshot of an API or the revision of served weights. Prices are for a million
    tokens. `deadline` is for one call in seconds, `tries` how often a call is made before a fault
    of the transport stands, `patience` the longest Retry-After that is waited for. `image_tokens`
    is a guess for limits and budget until the endpoint counts. A reply that the limit cuts off is
    asked for again with twice the tokens, up to `room`; 0 is never. `headers` may hold `${KEY}`,
    which stands for the key. `rules` is a suite's own instruction in place of the general one, and
    `note` stands on the card without making it another. With `batch` requests go as jobs, which
    are looked after every `batch_poll` seconds for at most `batch_hours`; the answers are the same.
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
    room: int = 0
    effort: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    form: MediaForm = PLAIN
    rules: str = ""
    note: str = ""
    batch: bool = False
    batch_hours: float = 24.0
    batch_poll: float = 30.0

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
        if self.rules and "$reply" not in self.rules:
            raise ValueError("The rules of judging name no $reply: say where its form is told.")
        check_frames(self.frames)

    @property
    def card(self) -> JudgeCard:
        """Who judges. The key is no part of it."""
        url = urlsplit(self.base_url)
        form = "json_schema" if self.structured else "json in text"
        prompt = prompt_sha256(
            structured=self.structured, video=is_video(self.frames), rules=self.rules
        )
        return JudgeCard(
            name=f"{self.model} at {url.hostname}{f':{url.port}' if url.port else ''}",
            kind="auto",
            model=self.model,
            revision=self.revision,
            prompt_sha256=prompt,
            decoding=f"{self.decoding}, {form}, {REPLY_RETRIES} retries{self.extras}",
            frames=self.form.describe(self.frames),
            precision="as served",
            code=CODE,
            note=self.note,
        )

    @property
    def decoding(self) -> str:
        """Temperature and token limit in words."""
        temperature = "default" if self.temperature is None else f"{self.temperature:g}"
        return f"temperature {temperature}, {self.max_tokens} tokens"

    @property
    def extras(self) -> str:
        """What else can change a reply, in words; empty when nothing is set."""
        words = [
            f"limit as {self.limit_name}" if self.limit_name != "max_tokens" else "",
            f"up to {self.room} tokens when cut off" if self.room > self.max_tokens else "",
            f"effort {self.effort}" if self.effort else "",
            f"headers {json.dumps(dict(self.headers), sort_keys=True)}" if self.headers else "",
        ]
        return "".join(f", {word}" for word in words if word)

    @property
    def sent_headers(self) -> dict[str, str]:
        """The headers of a call, the key in its place."""
        return {name: value.replace(KEY_MARK, self.api_key) for name, value in self.headers}

    def wider(self, limit: int) -> int:
        """The limit after one that cut a reply off."""
        return min(WIDER * limit, self.room)

    def hint(self, status: int, message: str) -> str:
        """What to set when the endpoint refuses something that can be left out; else nothing."""
        if status not in REFUSING:
            return ""
        for refused_words, advice in self._advice():
            if any(word in message for word in refused_words):
                return f"{advice}: "
        return ""

    def body(
        self, messages: Sequence[Message], questions: Sequence[Question], limit: int
    ) -> dict[str, Any]:
        """What is posted for one call whose reply takes at most so many tokens."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [*messages],
            self.limit_name: limit,
        }
        if self.effort:
            body["reasoning_effort"] = self.effort
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.structured:
            form = {"name": "answers", "strict": True, "schema": schema(questions, REASONING)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def most(self, messages: Sequence[Message], limit: int) -> Usage:
        """What one call may cost at most, with the tokens of its words and pictures estimated."""
        return self._spent(sum(self._tokens(message) for message in messages), limit)

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

    def _advice(self) -> list[tuple[tuple[str, ...], str]]:
        listed: list[tuple[tuple[str, ...], str]] = [
            ((self.limit_name,), "set limit or limit_name")
        ]
        if self.structured:
            listed.append((("response_format", "schema"), "set schema = false"))
        if is_video(self.frames):
            listed.append((("video", "file"), "set frames = 'uniform-16' or another video_part"))
        if self.temperature is not None:
            listed.append((("temperature",), "set temperature = 'default'"))
        if self.effort:
            listed.append((("reasoning",), "leave effort out"))
        return listed

    def _tokens(self, message: Message) -> int:
        content = message["content"]
        parts = content if isinstance(content, list) else [{"text": content}]
        words = [str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part]
        images = sum(isinstance(part, dict) and "image_url" in part for part in parts)
        videos = len(parts) - len(words) - images
        pictures = images + VIDEO_IMAGES * videos
        return sum(map(len, words)) // LETTERS_A_TOKEN + pictures * self.image_tokens

"""Chat with a vision-language model: messages with pictures in, text out, for local and remote
models alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import BUDGET, Budget
from evaluators.judges.http.connection import Connection
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.faults import Fault
from evaluators.judges.prompts import Message
from evaluators.judges.quoting import storable
from evaluators.judges.replies import FINISHED


class Unavailable(Exception):
    """No completion came after all tries, for a reason outside the messages. The message says what
    happened and holds no key."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The text of a reply; `problem` says why it is incomplete, if it is."""

    text: str
    problem: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


class Talker(Protocol):
    """A vision-language model to chat with; `name` identifies the model and how it decodes."""

    @property
    def name(self) -> str: ...

    def say(self, messages: Sequence[Message]) -> ChatReply: ...


class HttpTalker:
    """A model behind an OpenAI-compatible endpoint; the connection stays open until `close`. Not
    thread-safe."""

    def __init__(self, config: HttpJudgeConfig, budget: Budget | None = None) -> None:
        self._config, self._budget = config, budget or Budget()
        self._runner: asyncio.Runner | None = None
        self._line: Connection | None = None

    @property
    def name(self) -> str:
        """Model, snapshot and decoding; where it is served does not matter."""
        config = self._config
        return f"{config.model}@{config.revision}, {config.decoding}{config.extras}"

    def say(self, messages: Sequence[Message]) -> ChatReply:
        """One answer, after as many tries as the settings allow."""
        self._runner = self._runner or asyncio.Runner()
        try:
            completion = self._runner.run(self._say(messages))
        except Fault as fault:
            reason = (
                "the money or the calls allowed are spent"
                if fault.reason == BUDGET
                else fault.reason
            )
            raise Unavailable(storable(self._config.redact(reason))) from None
        counted = (completion.tokens_in or 0, completion.tokens_out or 0)
        text = storable(self._config.redact(completion.text or completion.refusal))
        return ChatReply(text, problem_of(completion), *counted, self._config.price(*counted))

    def close(self) -> None:
        """Close the connection."""
        if self._runner:
            if self._line:
                self._runner.run(self._line.close())
            self._runner.close()
        self._runner = self._line = None

    async def _say(self, messages: Sequence[Message]) -> Completion:
        self._line = self._line or Connection(self._config, self._budget)
        return await self._line.say(messages)


def problem_of(completion: Completion) -> str:
    """Why a completion is not an answer that came to its own end; empty when it is one."""
    if completion.refusal:
        return "the reply is a refusal"
    if completion.finish == "length":
        return "the reply was cut off by the token limit; be briefer"
    if completion.finish not in FINISHED:
        return f"the reply ended by {completion.finish[:40]!r} instead of stopping by itself"
    return ""

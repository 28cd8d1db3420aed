"""Asking a language model until its reply can be used: tries within the budget, errors told, every
raw word kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evaluators.contracts import Json
from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import BUDGET, Budget
from evaluators.judges.http.connection import Connection
from evaluators.judges.http.endpoint import REPLY_RETRIES, HttpJudgeConfig
from evaluators.judges.http.faults import Fault
from evaluators.judges.prompts import Message
from evaluators.judges.quoting import storable
from evaluators.judges.replies import FINISHED, BadReply
from evaluators.suites.tailor.curation.prompts import correction
from evaluators.suites.tailor.curation.steps import CurationQuestion

Status = Literal["done", "failed", "error", "budget"]
LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended: `failed` is a reply that stayed bad, `error` a fault on the way, `budget`
    no leave to ask."""

    ask: CurationQuestion
    status: Status
    payload: dict[str, Json]
    reason: str = ""
    raw: str = ""
    tries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


Keep = Callable[[CallOutcome], None]


class Writer:
    """A language model that is asked several things at once."""

    def __init__(self, config: HttpJudgeConfig, budget: Budget) -> None:
        self._config, self._budget = config, budget

    def write(self, asks: Sequence[CurationQuestion], keep: Keep) -> None:
        """Put all questions; `keep` hears of each answer the moment it is complete."""
        try:
            asyncio.run(self._write(asks, keep))
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _write(self, asks: Sequence[CurationQuestion], keep: Keep) -> None:
        line = Connection(self._config, self._budget)
        try:
            async with asyncio.TaskGroup() as group:
                for ask in asks:
                    group.create_task(self._one(line, ask, keep))
        finally:
            await line.close()

    async def _one(self, line: Connection, ask: CurationQuestion, keep: Keep) -> None:
        talk = _Talk(ask, self._config)
        try:
            keep(await self._converse(line, talk))
        except Fault as fault:
            keep(
                talk.ended(
                    "budget" if fault.reason == BUDGET else "error", fault.reason, fault.body
                )
            )

    async def _converse(self, line: Connection, talk: _Talk) -> CallOutcome:
        reason, mended = "", list[Message]()
        for _ in range(1 + REPLY_RETRIES):
            completion = await line.say([*talk.ask.messages, *mended])
            talk.add(completion)
            try:
                return talk.done(talk.ask.read(_whole(completion)))
            except BadReply as bad:
                reason = str(bad)
                mended = correction(completion.text or completion.refusal, reason)
        return talk.ended("failed", reason)


@dataclass
class _Talk:
    """What was said and counted about one question so far."""

    ask: CurationQuestion
    config: HttpJudgeConfig
    said: list[str] = field(default_factory=list)
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, completion: Completion) -> None:
        self.said.append(completion.text or completion.refusal)
        self.tokens_in += completion.tokens_in or 0
        self.tokens_out += completion.tokens_out or 0

    def done(self, payload: dict[str, Json]) -> CallOutcome:
        """The raw text is the reply that was read."""
        return self._written("done", payload, "", self.said[-1])

    def ended(self, status: Status, reason: str, page: str = "") -> CallOutcome:
        """The raw text is everything that was said, and the last page that was no completion."""
        return self._written(status, {}, reason, "\n\n".join(filter(None, [*self.said, page])))

    def _written(
        self, status: Status, payload: dict[str, Json], reason: str, raw: str
    ) -> CallOutcome:
        clean = [storable(self.config.redact(text)) for text in (reason, raw)]
        cost = self.config.price(self.tokens_in, self.tokens_out)
        counted = (len(self.said), self.tokens_in, self.tokens_out, cost)
        return CallOutcome(self.ask, status, payload, clean[0][:LONGEST_REASON], clean[1], *counted)


def _whole(completion: Completion) -> str:
    """The text of a completion that came to its own end."""
    if completion.refusal:
        raise BadReply("it is a refusal; write about something harmless instead")
    if completion.finish == "length":
        raise BadReply("it was cut off by the token limit; use shorter texts")
    if completion.finish not in FINISHED:
        raise BadReply(f"it ended by {completion.finish[:40]!r} instead of stopping by itself")
    return completion.text

"""Asks a language model until its reply is valid: retries within the budget, errors sent back, raw
replies kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.contracts import Json
from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import BUDGET, Budget
from evaluators.judges.http.connection import Connection
from evaluators.judges.http.endpoint import REPLY_RETRIES, HttpJudgeConfig
from evaluators.judges.http.faults import Fault
from evaluators.judges.http.transcript import Transcript
from evaluators.judges.prompts import Message
from evaluators.judges.replies import FINISHED, BadReply
from evaluators.suites.tailor.curation.prompts import correction
from evaluators.suites.tailor.curation.steps import CurationQuestion

Status = Literal["done", "failed", "error", "budget"]
LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended: `failed` is a reply that stayed invalid, `error` a transport fault,
    `budget` a call that was not allowed."""

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
        """Put all questions; `keep` is called with each outcome as soon as it is complete."""
        try:
            asyncio.run(self._write(asks, keep))
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _write(self, asks: Sequence[CurationQuestion], keep: Keep) -> None:
        line = Connection(self._config, self._budget)
        try:
            async with asyncio.TaskGroup() as group:
                for ask in asks:
                    group.create_task(self._answer(line, ask, keep))
        finally:
            await line.close()

    async def _answer(self, line: Connection, ask: CurationQuestion, keep: Keep) -> None:
        transcript = Transcript(self._config)
        try:
            keep(await self._converse(line, ask, transcript))
        except Fault as fault:
            status: Status = "budget" if fault.reason == BUDGET else "error"
            raw = transcript.raw(fault.body)
            keep(_outcome(ask, transcript, status, {}, fault.reason, raw))

    async def _converse(
        self, line: Connection, ask: CurationQuestion, transcript: Transcript
    ) -> CallOutcome:
        reason, mended = "", list[Message]()
        for _ in range(1 + REPLY_RETRIES):
            completion = await line.say([*ask.messages, *mended])
            transcript.add(completion)
            try:
                payload = ask.read(_whole(completion))
                return _outcome(ask, transcript, "done", payload, "", transcript.last)
            except BadReply as bad:
                reason = str(bad)
                mended = correction(completion.text or completion.refusal, reason)
        return _outcome(ask, transcript, "failed", {}, reason, transcript.raw())


def _outcome(
    ask: CurationQuestion,
    transcript: Transcript,
    status: Status,
    payload: dict[str, Json],
    reason: str,
    raw: str,
) -> CallOutcome:
    reason = transcript.clean(reason)[:LONGEST_REASON]
    counted = (len(transcript.replies), transcript.tokens_in, transcript.tokens_out)
    return CallOutcome(ask, status, payload, reason, raw, *counted, transcript.cost)


def _whole(completion: Completion) -> str:
    """The text of a completion that came to its own end."""
    if completion.refusal:
        raise BadReply("it is a refusal; write about something harmless instead")
    if completion.finish == "length":
        raise BadReply("it was cut off by the token limit; use shorter texts")
    if completion.finish not in FINISHED:
        raise BadReply(f"it ended by {completion.finish[:40]!r} instead of stopping by itself")
    return completion.text

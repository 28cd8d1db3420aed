"""Calls to an OpenAI-compatible endpoint: a completion, or a fault that holds no key; tried again
and paid for by one rule."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.contracts import Question
from evaluators.judges.completions import Completion, Malformed, parse_body
from evaluators.judges.http.budget import BUDGET, Budget, Usage
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.faults import Fault, refused, wait_before
from evaluators.judges.http.rate_limit import Pace
from evaluators.judges.prompts import Message

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NEVER_ARRIVED = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})


SETTLING = 0.01

Post = Callable[[], Awaitable[Completion]]
"""Sends one call: a completion, or a Fault."""


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How calls to one endpoint are made: some at once, at its pace, retried, within a budget."""

    config: HttpJudgeConfig
    budget: Budget
    pace: Pace
    lines: asyncio.Semaphore

    async def make(self, messages: Sequence[Message], tokens: int, post: Post) -> Completion:
        """Call until a completion comes, with growing waits that respect what the endpoint asks
        for, or a Fault after as many tries as the settings allow."""
        config = self.config
        for attempt in range(config.tries):
            try:
                async with self.lines:
                    return await self._pay(messages, tokens, post)
            except Fault as fault:
                is_last = attempt + 1 == config.tries
                if not fault.again or fault.after > config.patience or is_last:
                    raise
                self.pace.pause(fault.after)
                await asyncio.sleep(wait_before(attempt, fault, config.backoff))
        raise AssertionError("unreachable: the last try returns or raises")

    async def _pay(self, messages: Sequence[Message], tokens: int, post: Post) -> Completion:
        """One call: its estimated cost is reserved before it, and the true cost is booked after it,
        however it ends."""
        limit, cost = self.config.most(messages, tokens), Usage()
        await self._reserve(limit)
        try:
            entry = await self.pace.turn(limit.tokens)
            cost = Usage(calls=1)
            completion = await post()
            cost = self.config.cost(completion, limit)
            self.pace.correct(entry, cost.tokens)
            return completion
        except Fault as fault:
            cost = limit if fault.billed else cost
            raise
        finally:
            self.budget.settle(limit, cost)

    async def _reserve(self, limit: Usage) -> None:
        while (leave := self.budget.ask(limit)) == "wait":
            await asyncio.sleep(SETTLING)
        if leave == "stop":
            raise Fault(BUDGET, again=False)


async def call(
    client: AsyncOpenAI,
    config: HttpJudgeConfig,
    messages: Sequence[Message],
    limit: int,
    questions: Sequence[Question] = (),
) -> Completion:
    """Post the messages and read what comes back, of at most so many tokens; what the client raises
    becomes a fault."""
    page = await _post(client, config, config.body(messages, questions, limit))
    try:
        return parse_body(page)
    except Malformed as bad:
        raise Fault(str(bad), billed=True, body=page) from None


async def _post(client: AsyncOpenAI, config: HttpJudgeConfig, body: Mapping[str, Any]) -> str:
    import openai

    try:
        async with asyncio.timeout(config.deadline):
            # The typed `chat.completions.create` walks through every message and takes twice the
            # time.
            return await client.post("/chat/completions", cast_to=str, body=body)
    except (TimeoutError, openai.APITimeoutError):
        raise Fault(f"no answer within {config.deadline:g} seconds", billed=True) from None
    except openai.APIStatusError as error:
        reason = config.hint(error.status_code, error.message) + error.message
        raise refused(
            error.status_code, error.response.headers, reason, error.response.text
        ) from None
    except openai.APIError as error:
        cause = type(error.__cause__ or error).__name__
        raise Fault(f"the connection failed ({cause})", billed=cause not in NEVER_ARRIVED) from None

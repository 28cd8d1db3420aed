"""A connection to an OpenAI-compatible endpoint: concurrent calls, retries, a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import BUDGET, Budget, Usage
from evaluators.judges.http.call import call
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.faults import Fault, wait_before
from evaluators.judges.http.rate_limit import Pace
from evaluators.judges.prompts import Message

if TYPE_CHECKING:
    from openai import AsyncOpenAI

SETTLING = 0.01


class Connection:
    """Sends messages to the endpoint; call `close` at the end."""

    def __init__(self, config: HttpJudgeConfig, budget: Budget) -> None:
        from openai import AsyncOpenAI

        self._config, self._budget = config, budget
        self._room = asyncio.Semaphore(config.concurrency)
        key = config.api_key or "none"
        self._pace = Pace(config.rpm, config.tpm)
        self._client: AsyncOpenAI = AsyncOpenAI(
            base_url=config.base_url,
            api_key=key,
            max_retries=0,
            timeout=config.deadline,
            default_headers=config.sent_headers,
        )

    async def say(self, messages: Sequence[Message]) -> Completion:
        """A completion, with more room each time the limit cuts it off, or a Fault."""
        limit = self._config.max_tokens
        completion = await self._ask(messages, limit)
        while completion.cut_off and limit < self._config.room:
            limit = self._config.wider(limit)
            completion = (await self._ask(messages, limit)).after(completion)
        return completion

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def _ask(self, messages: Sequence[Message], limit: int) -> Completion:
        """A completion, after as many tries as the settings allow, or a Fault."""
        for attempt in range(self._config.tries):
            try:
                async with self._room:
                    return await self._pay(messages, limit)
            except Fault as fault:
                if (
                    not fault.again
                    or fault.after > self._config.patience
                    or attempt + 1 == self._config.tries
                ):
                    raise
                self._pace.pause(fault.after)
                await asyncio.sleep(wait_before(attempt, fault, self._config.backoff))
        raise AssertionError("unreachable: the last try returns or raises")

    async def _pay(self, messages: Sequence[Message], tokens: int) -> Completion:
        """One call: its estimated cost is reserved before it, and the true cost is booked after it,
        however it ends."""
        limit, cost = self._config.most(messages, tokens), Usage()
        while (leave := self._budget.ask(limit)) == "wait":
            await asyncio.sleep(SETTLING)
        if leave == "stop":
            raise Fault(BUDGET, again=False)
        try:
            entry = await self._pace.turn(limit.tokens)
            cost = Usage(calls=1)
            completion = await call(self._client, self._config, messages, tokens)
            cost = self._config.cost(completion, limit)
            self._pace.correct(entry, cost.tokens)
            return completion
        except Fault as fault:
            cost = limit if fault.billed else cost
            raise
        finally:
            self._budget.settle(limit, cost)

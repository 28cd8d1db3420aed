"""A connection to an OpenAI-compatible endpoint: concurrent calls, retries, a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import Budget
from evaluators.judges.http.call import CallPolicy, call
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.rate_limit import Pace
from evaluators.judges.prompts import Message

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Connection:
    """Sends messages to the endpoint; call `close` at the end."""

    def __init__(self, config: HttpJudgeConfig, budget: Budget) -> None:
        from openai import AsyncOpenAI

        self._config = config
        lines = asyncio.Semaphore(config.concurrency)
        self._policy = CallPolicy(config, budget, Pace(config.rpm, config.tpm), lines)
        key = config.api_key or "none"
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
        post = partial(call, self._client, self._config, messages, limit)
        return await self._policy.make(messages, limit, post)

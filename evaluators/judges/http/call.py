"""One call to an OpenAI-compatible endpoint: a completion, or a fault that holds no key."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluators.contracts import Question
from evaluators.judges.completions import Completion, Malformed, parse_body
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.faults import Fault, refused
from evaluators.judges.prompts import Message

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NEVER_ARRIVED = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})


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

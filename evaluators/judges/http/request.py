"""One request from start to reply: retry when the transport fails, ask again when the reply cannot
be read, record the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from types import MappingProxyType

from evaluators.contracts import Answer, Outcome, Question, Reply, Request
from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import BUDGET, Budget
from evaluators.judges.http.call import CallPolicy
from evaluators.judges.http.endpoint import REPLY_RETRIES, HttpJudgeConfig
from evaluators.judges.http.faults import Fault
from evaluators.judges.http.rate_limit import Pace
from evaluators.judges.http.transcript import Transcript
from evaluators.judges.prompts import Message, correction, render
from evaluators.judges.replies import BadReply, read_completion, usable_part
from evaluators.media import Unreadable

Send = Callable[[Sequence[Message], Sequence[Question], int], Awaitable[Completion]]
"""One call of at most so many tokens: a completion, or a Fault."""

ROOM = 2
"""Requests a line that are under way or made ready: calls that began together end together, so all
lines want anew."""

LONGEST_REASON = 200
LONGEST_PAGE = 10_000


class RequestRunner:
    """Turns requests into replies, concurrently, at the endpoint's pace and within the budget."""

    def __init__(
        self, config: HttpJudgeConfig, send: Send, budget: Budget, pace: Pace, encoders: Executor
    ) -> None:
        self._config, self._send, self._encoders = config, send, encoders
        self._room = asyncio.Semaphore(ROOM * config.concurrency)
        lines = asyncio.Semaphore(config.concurrency)
        self._policy = CallPolicy(config, budget, pace, lines)

    async def reply(self, request: Request) -> Reply:
        """The reply to a request; every failure is an outcome in it."""
        transcript = Transcript(self._config)
        async with self._room:
            try:
                return await self._converse(request, transcript, await self._messages(request))
            except Fault as fault:
                return failed_reply(request, transcript, fault)

    async def _messages(self, request: Request) -> list[Message]:
        if self._policy.budget.exhausted:
            raise Fault(BUDGET)
        config = self._config
        work = partial(
            render,
            request,
            config.frames,
            structured=config.structured,
            form=config.form,
            rules=config.rules,
        )
        try:
            return await asyncio.get_running_loop().run_in_executor(self._encoders, work)
        except Unreadable as error:
            raise Fault(
                "media: " + str(error).replace(str(request.media), request.media.name)
            ) from None
        except OSError as error:
            raise Fault(f"media: {request.media.name}: {error.strerror}") from None

    async def _converse(
        self, request: Request, transcript: Transcript, messages: Sequence[Message]
    ) -> Reply:
        questions, reason, usable = request.questions, "", dict[str, Answer]()
        mended: list[Message] = []
        for _ in range(1 + REPLY_RETRIES):
            completion = await self._ask_in_full([*messages, *mended], questions, transcript)
            try:
                answers = read_completion(completion, questions, structured=self._config.structured)
                # The raw text is the reply that was read, so that reading it again gives the same
                # answers.
                return _reply(request, transcript, answers, transcript.last)
            except BadReply as bad:
                reason = str(bad)
                usable = usable_part(completion, questions, structured=self._config.structured)
                mended = correction(completion.text or completion.refusal, reason, len(questions))
        unparsable = Outcome.JUDGE_UNPARSABLE
        return _failed(request, transcript, unparsable, reason, usable=usable)

    async def _ask_in_full(
        self, messages: Sequence[Message], questions: Sequence[Question], transcript: Transcript
    ) -> Completion:
        """Ask the same with more room as long as the token limit cuts the reply off."""
        while True:
            completion = await self._ask(messages, questions, transcript.limit)
            transcript.add(completion)
            if not completion.cut_off or transcript.limit >= self._config.room:
                return completion
            transcript.limit = self._config.wider(transcript.limit)

    async def _ask(
        self, messages: Sequence[Message], questions: Sequence[Question], limit: int
    ) -> Completion:
        post = partial(self._send, messages, questions, limit)
        return await self._policy.make(messages, limit, post)


def failed_reply(request: Request, transcript: Transcript, fault: Fault) -> Reply:
    """No answers, and the fault that there are none for."""
    return _failed(request, transcript, Outcome.JUDGE_ERROR, fault.reason, fault.body)


def _failed(
    request: Request,
    transcript: Transcript,
    outcome: Outcome,
    reason: str,
    page: str = "",
    usable: Mapping[str, Answer] = MappingProxyType({}),
) -> Reply:
    """The raw text is every reply, and the last page that was no completion.

    The answers of the last reply that are on their menus stand; the other questions have none.
    """
    reason = transcript.clean(" ".join(reason.split()))[:LONGEST_REASON]
    question_ids = [question.id for question in request.questions]
    answers = tuple(
        usable.get(name) or Answer(name, outcome, reason=reason) for name in question_ids
    )
    return _reply(request, transcript, answers, transcript.raw(page[:LONGEST_PAGE]))


def _reply(
    request: Request, transcript: Transcript, answers: tuple[Answer, ...], raw: str
) -> Reply:
    tokens = (transcript.tokens_in, transcript.tokens_out)
    return Reply(request.sample_id, answers, raw, *tokens, transcript.cost)

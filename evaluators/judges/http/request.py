"""The course of one request: ask, try again when the way fails, ask anew when the reply is bad, say
how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from evaluators.contracts import Answer, Outcome, Question, Reply, Request
from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import BUDGET, Budget, Usage
from evaluators.judges.http.endpoint import REPLY_RETRIES, HttpJudgeConfig
from evaluators.judges.http.faults import Fault, wait_before
from evaluators.judges.http.rate_limit import AdmittedCall, Pace
from evaluators.judges.prompts import Message, correction, render
from evaluators.judges.quoting import storable
from evaluators.judges.replies import BadReply, read_completion, usable_part
from evaluators.media import Unreadable

Send = Callable[[Sequence[Message], Sequence[Question]], Awaitable[Completion]]
"""One call: a completion, or a Fault."""

ROOM = 2
"""Requests a line that are under way or made ready: calls that began together end together, so all
lines want anew."""

LONGEST_REASON = 200
LONGEST_PAGE = 10_000
SETTLING = 0.01


@dataclass
class _Talk:
    """What was said and counted about one request so far."""

    request: Request
    config: HttpJudgeConfig
    said: list[str] = field(default_factory=list)
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, completion: Completion) -> None:
        self.said.append(completion.text or completion.refusal)
        self.tokens_in += completion.tokens_in or 0
        self.tokens_out += completion.tokens_out or 0

    def scored(self, answers: tuple[Answer, ...]) -> Reply:
        """The raw text is the reply that was read, so that reading it again gives the same
        answers."""
        return self._reply(answers, self.said[-1])

    def failed(
        self,
        outcome: Outcome,
        reason: str,
        page: str = "",
        usable: Mapping[str, Answer] = MappingProxyType({}),
    ) -> Reply:
        """The raw text is everything that was said, and the last page that was no completion.

        What the last reply did answer as it should stands; only the rest has no answer.
        """
        reason = storable(self.config.redact(" ".join(reason.split())))[:LONGEST_REASON]
        asked = [question.id for question in self.request.questions]
        answers = tuple(usable.get(name) or Answer(name, outcome, reason=reason) for name in asked)
        return self._reply(answers, "\n\n".join(filter(None, [*self.said, page[:LONGEST_PAGE]])))

    def _reply(self, answers: tuple[Answer, ...], raw: str) -> Reply:
        cost = self.config.price(self.tokens_in, self.tokens_out)
        raw = storable(self.config.redact(raw))
        return Reply(self.request.sample_id, answers, raw, self.tokens_in, self.tokens_out, cost)


class Desk:
    """Turns requests into replies: so many at once, at the endpoint's pace, within the budget."""

    def __init__(
        self, config: HttpJudgeConfig, send: Send, budget: Budget, pace: Pace, encoders: Executor
    ) -> None:
        self._config, self._send, self._budget, self._pace, self._encoders = (
            config,
            send,
            budget,
            pace,
            encoders,
        )
        self._room = asyncio.Semaphore(ROOM * config.concurrency)
        self._lines = asyncio.Semaphore(config.concurrency)

    async def reply(self, request: Request) -> Reply:
        """The reply to a request; whatever happens on the way is an outcome in it."""
        talk = _Talk(request, self._config)
        async with self._room:
            try:
                return await self._converse(talk, await self._messages(request))
            except Fault as fault:
                return talk.failed(Outcome.JUDGE_ERROR, fault.reason, fault.body)

    async def _messages(self, request: Request) -> list[Message]:
        if self._budget.exhausted:
            raise Fault(BUDGET)
        work = partial(render, request, self._config.frames, structured=self._config.structured)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._encoders, work)
        except Unreadable as error:
            raise Fault(
                "media: " + str(error).replace(str(request.media), request.media.name)
            ) from None
        except OSError as error:
            raise Fault(f"media: {request.media.name}: {error.strerror}") from None

    async def _converse(self, talk: _Talk, messages: Sequence[Message]) -> Reply:
        questions, reason, usable = talk.request.questions, "", dict[str, Answer]()
        mended: list[Message] = []
        for _ in range(1 + REPLY_RETRIES):
            completion = await self._ask([*messages, *mended], questions)
            talk.add(completion)
            try:
                return talk.scored(
                    read_completion(completion, questions, structured=self._config.structured)
                )
            except BadReply as bad:
                reason = str(bad)
                usable = usable_part(completion, questions, structured=self._config.structured)
                mended = correction(completion.text or completion.refusal, reason, len(questions))
        return talk.failed(Outcome.JUDGE_UNPARSABLE, reason, usable=usable)

    async def _ask(self, messages: Sequence[Message], questions: Sequence[Question]) -> Completion:
        """Call until a completion comes, waiting longer each time and as long as the endpoint
        wants."""
        for attempt in range(self._config.tries):
            try:
                async with self._lines:
                    return await self._call(messages, questions)
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

    async def _call(self, messages: Sequence[Message], questions: Sequence[Question]) -> Completion:
        """One call, paid for: what it may cost is held before it and settled after it, however it
        ends."""
        most, cost = self._config.most(messages), Usage()
        await self._leave(most)
        try:
            entry = await self._turn(most.tokens)
            cost = Usage(calls=1)
            completion = await self._send(messages, questions)
            cost = self._config.cost(completion, most)
            self._pace.correct(entry, cost.tokens)
            return completion
        except Fault as fault:
            cost = most if fault.billed else cost
            raise
        finally:
            self._budget.settle(most, cost)

    async def _leave(self, most: Usage) -> None:
        while (leave := self._budget.ask(most)) == "wait":
            await asyncio.sleep(SETTLING)
        if leave == "stop":
            raise Fault(BUDGET, again=False)

    async def _turn(self, tokens: int) -> AdmittedCall:
        while isinstance(wait := self._pace.enter(tokens), float):
            await asyncio.sleep(wait)
        return wait

"""A judge behind any OpenAI-compatible endpoint: many calls at once, one reply a request, in
order."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from evaluators.contracts import JudgeCard, Question, Reply, Request
from evaluators.judges.completions import Completion
from evaluators.judges.http.budget import Budget
from evaluators.judges.http.call import call
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.http.rate_limit import Pace
from evaluators.judges.http.request import RequestRunner
from evaluators.judges.menus import check
from evaluators.judges.prompts import Message

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["HttpJudge", "HttpJudgeConfig"]

WINDOW = 4
"""Requests a line that may be under way or wait for their turn in the order."""

T = TypeVar("T")
Keep = Callable[[Request, Reply], None]


class HttpJudge:
    """Asks an endpoint. `keep` is called with each reply as soon as it is complete, before it is
    yielded in order."""

    def __init__(
        self,
        config: HttpJudgeConfig,
        budget: Budget | None = None,
        pace: Pace | None = None,
        keep: Keep | None = None,
    ) -> None:
        self.config = config
        self.budget = budget or Budget()
        self._pace = pace or Pace(config.rpm, config.tpm)
        self._keep = keep

    def kept_by(self, keep: Keep) -> HttpJudge:
        """The same judge, budget and pace, with a callback for each reply."""
        return HttpJudge(self.config, self.budget, self._pace, keep)

    @property
    def card(self) -> JudgeCard:
        """Who judges, from the settings."""
        return self.config.card

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]:
        """One reply a request, in their order. Calls continue while the caller works, up to a
        window of requests."""
        for questions in {
            id(request.questions): request.questions for request in requests
        }.values():
            check(questions)
        waiting: deque[Future[Reply]] = deque()
        with ThreadPoolExecutor(2) as encoders, _running_loop() as loop:
            lines = _Lines(self.config)
            desk = RequestRunner(self.config, lines.send, self.budget, self._pace, encoders)
            try:
                for request in requests:
                    waiting.append(_submit(loop, self._reply(desk, request)))
                    if len(waiting) >= WINDOW * self.config.concurrency:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                _submit(loop, _wind_down(lines)).result()

    async def _reply(self, desk: RequestRunner, request: Request) -> Reply:
        reply = await desk.reply(request)
        if self._keep:
            self._keep(request, reply)
        return reply


class _Lines:
    """Calls to the endpoint; what the client raises becomes a fault that holds no key.

    Each line has a client of its own: a shared pool looks at every idle connection before every
    call.
    """

    def __init__(self, config: HttpJudgeConfig) -> None:
        self._config = config
        self._open = partial(_client, config, ssl.create_default_context())
        self._all: list[AsyncOpenAI] = []
        self._free: list[AsyncOpenAI] = []

    async def close(self) -> None:
        """Close all clients."""
        for client in self._all:
            await client.close()

    async def send(
        self, messages: Sequence[Message], questions: Sequence[Question], limit: int
    ) -> Completion:
        """Post the messages with a free client, or with a new one."""
        client = self._free.pop() if self._free else self._dial()
        try:
            return await call(client, self._config, messages, limit, questions)
        finally:
            self._free.append(client)

    def _dial(self) -> AsyncOpenAI:
        self._all.append(client := self._open())
        return client


def _client(config: HttpJudgeConfig, context: ssl.SSLContext) -> AsyncOpenAI:
    """The official client, without its own retries: ours know the budget and the pace."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    http = DefaultAsyncHttpxClient(verify=context)
    key = config.api_key or "none"
    return AsyncOpenAI(
        base_url=config.base_url,
        api_key=key,
        max_retries=0,
        timeout=config.deadline,
        http_client=http,
        default_headers=config.sent_headers,
    )


@contextmanager
def _running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own, so that calls go on while the caller is busy."""
    import uvloop

    loop = uvloop.new_event_loop()
    thread = Thread(target=loop.run_forever, name="http-judge", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        # The client asks for its platform in the loop's own threads; they end before the loop does.
        _submit(loop, loop.shutdown_default_executor()).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _submit(loop: asyncio.AbstractEventLoop, work: Coroutine[None, None, T]) -> Future[T]:
    return asyncio.run_coroutine_threadsafe(work, loop)


async def _wind_down(lines: _Lines) -> None:
    """Cancel what is still running, then close the connections."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await lines.close()

"""The HTTP judge against a local server that answers in 200 ms: its share of the ideal throughput,
and its memory."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from evaluators.contracts import Outcome
from evaluators.judges.http.judge import HttpJudge
from tests.bench.report import at_least, at_most, report, shown
from tests.judges.endpoints import QUESTIONS, Endpoint, asked, serving
from tests.judges.server import Item, Script

LATENCY = 0.2
CONCURRENCY = 32
CALLS = 5000
WARM = 500
"""Calls after which imports, connections and caches have taken their memory."""

BARE = 800
SHARE = 0.95
GROWTH = 1.05


@dataclass(frozen=True)
class Run:
    """What a run took."""

    seconds: float
    cpu: float
    warm_megabytes: float
    megabytes: float


def main() -> int:
    """Measure and report."""
    with tempfile.TemporaryDirectory() as folder:
        answers = {"q1": "yes", "q2": 3.5, "q3": "shoe", "q4": "it holds"}
        items = {str(number): Item(answers=answers) for number in range(CALLS)}
        with serving(Script(items=items, latency=LATENCY), Path(folder)) as endpoint:
            bare = asyncio.run(_bare(endpoint))
            run = _run(endpoint, Path(folder))
            most = endpoint.book()["most_at_once"]
    ideal = CALLS * LATENCY / CONCURRENCY
    return report("http_judge", [
        at_least(f"throughput at concurrency {CONCURRENCY} against the "
                 "ideal", ideal / run.seconds, SHARE),
        at_most(f"memory after {CALLS} calls against "
                f"{WARM}", run.megabytes / run.warm_megabytes, GROWTH),
        at_most("most calls at once against the concurrency", most / CONCURRENCY, 1.0),
        shown("throughput of the bare client in the same minute against the ideal", bare),
        shown("megabytes more a thousand "
              "calls", (run.megabytes - run.warm_megabytes) / (CALLS - WARM) * 1000),
        shown("calls a second", CALLS / run.seconds),
        shown("milliseconds of CPU a call", run.cpu / CALLS * 1000),
    ])  # fmt: skip


async def _bare(endpoint: Endpoint) -> float:
    """The official client in a plain loop, without our judge: what the machine and its other work
    leave."""
    from openai import AsyncOpenAI

    turns = iter(range(BARE))
    call = {
        "model": "m",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "item 0"}]}],
    }
    async with AsyncOpenAI(
        base_url=endpoint.config().base_url, api_key="none", max_retries=0
    ) as client:

        async def line() -> None:
            for _ in turns:
                await client.post("/chat/completions", cast_to=str, body=call)

        started = time.monotonic()
        await asyncio.gather(*(line() for _ in range(CONCURRENCY)))
    return BARE * LATENCY / CONCURRENCY / (time.monotonic() - started)


def _run(endpoint: Endpoint, folder: Path) -> Run:
    judge = HttpJudge(endpoint.config(concurrency=CONCURRENCY, deadline=30))
    list(judge.judge(asked(1, folder, QUESTIONS)))
    requests = asked(CALLS, folder, QUESTIONS)
    started, cpu, warm = time.monotonic(), time.process_time(), 0.0
    for number, reply in enumerate(judge.judge(requests), 1):
        assert all(answer.outcome == Outcome.SCORED for answer in reply.answers), reply
        warm = _megabytes() if number == WARM else warm
    return Run(time.monotonic() - started, time.process_time() - cpu, warm, _megabytes())


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    sys.exit(main())

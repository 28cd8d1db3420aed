"""The misbehaving server as a context, and requests to put to it."""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.contracts import Question, Request
from evaluators.judges.http.judge import HttpJudgeConfig
from evaluators.media import sha256_file, write_png
from tests.judges.server import Script
from tests.servers.process import answers, free_ports, running, wait_until

ROOT = Path(__file__).parents[2]
PATIENCE = 180.0
"""Seconds for what takes one on a quiet machine."""
KEY = "sk-canary-5f2b9c41d7"
YES_NO = Question("holds", "Does the shelf hold?", "yes_no", options=("yes", "no", "unclear"))
RATING = Question("real", "How real is it, from 0 to 5?", "rating", low=0, high=5)
CHOICE = Question(
    "tool", "Which tool is used?", "choice", options=("hammer", "shoe", "cannot tell")
)
OPEN = Question("what", "What happens?", "open")
QUESTIONS = (YES_NO, RATING, CHOICE, OPEN)


@dataclass(frozen=True)
class Endpoint:
    """A running server."""

    port: int
    pid: int

    def config(self, **fields: Any) -> HttpJudgeConfig:
        """Settings for it, quick to lose patience."""
        quick = {
            "model": "m",
            "revision": "r1",
            "api_key": KEY,
            "backoff": 0.01,
            "deadline": 5.0,
            "max_tokens": 100,
        }
        return HttpJudgeConfig(
            **{"base_url": f"http://127.0.0.1:{self.port}/v1", **quick, **fields}
        )

    def book(self) -> dict[str, Any]:
        """What the server saw so far."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/book")
        found: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return found


@contextmanager
def serving(script: Script, folder: Path) -> Iterator[Endpoint]:
    """Run the script in a process of its own."""
    (port,) = free_ports(1)
    file = folder / f"script-{port}.json"
    file.write_text(script.dump())
    command = [
        sys.executable,
        "-m",
        "tests.judges.server",
        "--port",
        str(port),
        "--script",
        str(file),
    ]
    with running(
        command, folder / f"server-{port}.log", folder=ROOT, environment=dict(os.environ)
    ) as process:
        wait_until(lambda: answers(port, "/"), [process], PATIENCE)
        yield Endpoint(port, process.pid)


def until(happened: Callable[[], bool]) -> None:
    """Wait for something that a busy machine may take its time for."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} seconds"
        time.sleep(0.05)


def picture(folder: Path, side: int = 16) -> Path:
    """A small picture."""
    path = folder / f"picture-{side}.png"
    if not path.exists():
        write_png(
            np.random.default_rng(side).integers(0, 255, (side, side, 3), dtype=np.uint8), path
        )
    return path


def asked(count: int, folder: Path, questions: Sequence[Question] = (YES_NO,)) -> list[Request]:
    """Requests about items 0, 1, 2 and so on."""
    media = picture(folder)
    digest = sha256_file(media)
    return [
        Request(f"s{n}", media, digest, "image", f"item {n}", tuple(questions))
        for n in range(count)
    ]

"""Kill it anywhere: a case goes on in the middle, ends with the same trace, and films nothing
twice."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluators.agents.journal import FolderJournal, Journal
from evaluators.suites.liva.agent.episode import AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.agent.trace import Trace
from tests.suites.liva.films import RuledVideo, every_second, small_case
from tests.suites.liva.killed import KILLS, SUBGOALS
from tests.suites.liva.oracle import Script, serving

ROOT = Path(__file__).parents[3]
GOALS = [f"The mug is at place {number}." for number in range(SUBGOALS)]


def told(trace: Trace) -> Any:
    """A trace without the times, which no two runs share."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(one) for key, one in value.items() if key != "seconds"}
        return [bare(one) for one in value] if isinstance(value, list) else value

    return bare(json.loads(trace.model_dump_json()))


@pytest.mark.timeout(300)
def test_killed_at_twenty_random_moments_a_case_ends_with_the_same_trace(tmp_path: Path) -> None:
    seed = int(os.environ.get("ARMILLARY_TEST_SEED", random.randrange(10**6)))
    print(f"seed {seed} (repeat with ARMILLARY_TEST_SEED={seed})")
    (tmp_path / "calm").mkdir()
    (tmp_path / "shaken").mkdir()

    with serving(Script(goals=GOALS, latency=0.05)) as endpoint:
        command = [
            sys.executable,
            "-m",
            "tests.suites.liva.killed",
            str(tmp_path),
            endpoint.url,
            str(seed),
        ]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
        )

    assert done.returncode == 0, done.stderr
    calm, shaken = (
        Trace.model_validate_json((tmp_path / way / "trace.json").read_text())
        for way in ("calm", "shaken")
    )
    hits = int(done.stdout)
    assert hits >= KILLS // 2, "most kills must find the case at work"
    assert told(shaken) == told(calm)
    assert calm.end == "completed" and len(calm.attempts) > len(calm.clips) == SUBGOALS
    films = Counter((tmp_path / "shaken" / "films.log").read_text().split())
    assert films["begin"] <= len(shaken.attempts) + hits, (
        "a kill costs the clip that was being filmed and no other"
    )


class Killed(BaseException):
    """The process is gone."""


class DyingJournal:
    """A journal whose process dies after so many writes, right after one was made durable."""

    def __init__(self, journal: FolderJournal, writes: int) -> None:
        self._journal, self._left = journal, writes

    def get(self, key: str) -> bytes | None:
        return self._journal.get(key)

    def file(self, key: str) -> Path | None:
        return self._journal.file(key)

    def find(self, sha256: str) -> Path:
        return self._journal.find(sha256)

    def put(self, key: str, data: bytes) -> None:
        self._journal.put(key, data)
        self._count()

    def keep(self, key: str, path: Path) -> Path:
        kept = self._journal.keep(key, path)
        self._count()
        return kept

    def _count(self) -> None:
        self._left -= 1
        if not self._left:
            raise Killed


def test_dying_after_every_single_write_no_clip_and_no_call_is_made_twice(tmp_path: Path) -> None:
    goals = GOALS[:2]
    script, i2v = Script(goals=goals), RuledVideo(every_second)
    (tmp_path / "work").mkdir()
    case, journal = small_case(tmp_path, 2), FolderJournal(tmp_path / "journal")

    deaths = 0
    with serving(script) as endpoint:
        vlm = endpoint.talker()

        def go(kept: Journal) -> Trace:
            return run_case(case, Tools(vlm, i2v, kept, tmp_path / "work"), AgentOptions())

        while True:
            try:
                trace = go(DyingJournal(journal, 1))
                break
            except Killed:
                deaths += 1
        again = go(journal)

    assert trace.end == "completed" and told(again) == told(trace)
    assert i2v.made == len(trace.attempts) == trace.spent.clips, (
        "accepted plus rejected, and not one more"
    )
    assert len(script.calls) == trace.spent.vlm_calls
    assert deaths == trace.spent.vlm_calls + 2 * trace.spent.clips, (
        "it died after every reply, every clip, every record"
    )


def test_another_case_seed_prompt_or_model_is_other_work(tmp_path: Path) -> None:
    script, i2v = Script(), RuledVideo()
    (tmp_path / "work").mkdir()
    case = small_case(tmp_path)

    with serving(script) as endpoint:
        tools = Tools(
            endpoint.talker(), i2v, FolderJournal(tmp_path / "journal"), tmp_path / "work"
        )
        run_case(case, tools, AgentOptions())
        run_case(case, tools, AgentOptions())
        made = i2v.made
        run_case(case, tools, AgentOptions(seed=1))

    assert made == 2 and i2v.made == 4

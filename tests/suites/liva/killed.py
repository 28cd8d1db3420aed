"""A process of one thread that runs a case in children and kills them at random moments; prints
what came of it."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import openai

from evaluators.agents.journal import FolderJournal
from evaluators.judges.http.chat import HttpTalker
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.suites.liva.agent.episode import AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from tests.suites.liva.films import RuledVideo, every_second, small_case

KILLS = 20
SUBGOALS = 5
MOST = 0.25
"""Seconds a child may live before it is killed; a whole case takes about ten times as long."""

assert openai, "imported before the children are made, so that none of them spends its life on it"


def work(folder: Path, url: str) -> None:
    """Run the case to its end and leave the trace in a file."""
    (folder / "work").mkdir(parents=True, exist_ok=True)
    vlm = HttpTalker(HttpJudgeConfig(base_url=url, model="scripted", revision="1", backoff=0.01))
    i2v = RuledVideo(every_second, log=folder / "films.log", seconds=0.15)
    tools = Tools(vlm, i2v, FolderJournal(folder / "journal"), folder / "work")
    trace = run_case(small_case(folder, SUBGOALS), tools, AgentOptions())
    (folder / "trace.json").write_text(trace.model_dump_json())
    vlm.close()


def shaken(folder: Path, url: str, dice: random.Random) -> int:
    """Kill so many children, then let one finish; how many of them were hit at work."""
    hits = 0
    for _ in range(KILLS):
        pid = _child(folder, url)
        time.sleep(dice.uniform(0, MOST))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        hits += os.WIFSIGNALED(status)
    _, status = os.waitpid(_child(folder, url), 0)
    assert status == 0
    return hits


def _child(folder: Path, url: str) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            work(folder, url)
        finally:
            os._exit(0 if (folder / "trace.json").exists() else 1)
    return pid


if __name__ == "__main__":
    place, address, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    work(place / "calm", address)
    print(json.dumps(shaken(place / "shaken", address, random.Random(seed))))

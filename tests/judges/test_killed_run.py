"""A run that is killed and started again repeats no call whose reply was complete."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.judges.endpoints import ROOT, asked, serving
from tests.judges.server import Script

COUNT = 150
KILLS = 4
SEED = 11


@pytest.mark.timeout(180)
def test_a_run_killed_again_and_again_repeats_no_finished_call(tmp_path: Path) -> None:
    draw, journal, kept = random.Random(SEED), tmp_path / "journal.jsonl", 0
    asked(COUNT, tmp_path)

    with serving(Script(latency=0.1), tmp_path) as endpoint:
        command = [
            sys.executable,
            "-m",
            "tests.judges.journalled",
            str(endpoint.port),
            str(tmp_path),
            str(COUNT),
        ]
        for _ in range(KILLS):
            process = subprocess.Popen(command, cwd=ROOT)
            aim = min(kept + draw.randint(5, 30), COUNT - 10)
            while _lines(journal) < aim and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kept = _lines(journal)
        before = _samples(journal)
        subprocess.run(command, cwd=ROOT, check=True)
        calls = endpoint.book()["calls"]

    after = _samples(journal)
    assert sorted(after) == sorted(f"s{n}" for n in range(COUNT))
    assert 10 <= len(before) < COUNT and after[: len(before)] == before
    repeated = {item: made for item, made in calls.items() if made > 1}
    print(
        f"seed {SEED}: {KILLS} kills, {len(repeated)} calls in flight made again, "
        f"{sum(calls.values())} in all"
    )
    assert sum(calls.values()) <= COUNT + KILLS * 8


def _lines(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def _samples(journal: Path) -> list[str]:
    return [json.loads(line)["sample"] for line in journal.read_text().splitlines()]

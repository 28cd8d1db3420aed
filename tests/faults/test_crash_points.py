"""Every named moment of an evaluation, hit one by one: killed there and run again, it ends as a
calm one."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.faults.crashing import MOMENTS
from tests.faults.test_kill import TABLES
from tests.warm import Warm

FEWEST = 30
DIED = 137
BEAT = "_beat"
"""The heart beats by the clock: its moments come when they like."""

Run = Callable[[Path, str, str], tuple[int, list[str]]]


@pytest.fixture
def calm(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "calm", {"ARMILLARY_ENGINE": "here", "ARMILLARY_SHARD_SIZE": "15"})


@pytest.fixture
def run(calm: Machine) -> Iterator[Run]:
    """Runs an evaluation in a copy of a process that has imported everything; its status, and the
    moments it passed."""
    with Warm("tests.faults.crashing") as warm:

        def evaluate(home: Path, submission: str, moment: str) -> tuple[int, list[str]]:
            warm.start(str(home), submission, moment, environment=calm.environment)
            status = warm.wait()
            passed = json.loads((home / MOMENTS).read_text()) if status == 0 else []
            return status, [name for name in passed if BEAT not in name]

        yield evaluate


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("most", [32, pytest.param(1000, marks=pytest.mark.long)])
def test_killed_at_each_named_moment_an_evaluation_ends_as_a_calm_one(
    most: int, tmp_path: Path, calm: Machine, run: Run
) -> None:
    """One home dies at one moment after the other; where it is past a moment, it is compared and a
    fresh one begins."""
    calm.run("init")
    submission = calm.submit(drawn_outputs(tmp_path / "bundle.zip"))
    shutil.copytree(calm.home, tmp_path / "fresh")
    _, named = run(calm.home, submission, "")
    chosen = sorted(random.Random(1).sample(range(len(named)), min(most, len(named))))
    moments = [named[number] for number in chosen]

    homes = (
        Path(shutil.copytree(tmp_path / "fresh", tmp_path / f"home-{number}")) for number in count()
    )
    home = next(homes)
    for moment in moments:
        status, _ = run(home, submission, moment)
        if status == 0:
            assert state(home) == state(calm.home), f"before {moment}"
            home = next(homes)
            status, _ = run(home, submission, moment)
        assert status == DIED, moment

    assert run(home, submission, "")[0] == 0
    assert state(home) == state(calm.home)
    print(f"{len(moments)} moments hit one by one")
    assert len(moments) >= FEWEST


def state(home: Path) -> tuple[dict[str, int], list[tuple[object, ...]]]:
    """How many rows there are of everything, and every number on the board."""
    with sqlite3.connect(home / "armillary.db") as db:
        counts = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}
        return counts, db.execute("SELECT * FROM cell ORDER BY 1, 2, 3, 4, 5, 6").fetchall()

"""Kill -9 in the middle of an evaluation: nothing lost, nothing twice, the same export."""

from __future__ import annotations

import csv
import io
import os
import random
import sqlite3
import time
from pathlib import Path

import pytest

from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.servers.prefect import PrefectServer
from tests.warm import Warm, shared

TABLES = ("submission", "run", "shard", "output", "reply", "verdict", "score", "cell")
KILLS = 50


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.xdist_group("servers")
def test_killed_at_random_moments_an_evaluation_ends_as_a_calm_one(
    tmp_path: Path, prefect_server: PrefectServer
) -> None:
    seed = int(os.environ.get("ARMILLARY_TEST_SEED", random.randrange(10**6)))
    print(f"seed {seed} (repeat with ARMILLARY_TEST_SEED={seed})")
    dice = random.Random(seed)
    small_shards = {"ARMILLARY_SHARD_SIZE": "1", **prefect_server.environment}
    calm, shaken = (
        Machine(tmp_path / "calm", small_shards),
        Machine(tmp_path / "shaken", small_shards),
    )
    bundle = drawn_outputs(tmp_path / "bundle.zip")
    for machine in (calm, shaken):
        machine.run("init")
    submission = calm.submit(bundle)
    calm.run("evaluate", submission)
    shaken.submit(bundle)

    with shared() as warm:
        hits = sum(_killed(shaken, warm, submission, dice) for _ in range(KILLS))
    shaken.run("evaluate", submission)

    assert hits >= KILLS // 2, "most kills must find the flow at work"
    assert _counts(shaken) == _counts(calm)
    assert _export(shaken) == _export(calm)
    assert "All agree with the board" in shaken.run("verify", submission)


def _killed(machine: Machine, warm: Warm, submission: str, dice: random.Random) -> bool:
    """Let an evaluation finish a few more shards, wait a random moment, kill it; False when it
    ended before."""
    until = _counts(machine)["shard"] + dice.randrange(4)
    warm.start("evaluate", submission, environment=machine.environment)
    while warm.running() and _counts(machine)["shard"] < until:
        time.sleep(0.02)
    time.sleep(dice.uniform(0, 0.5))
    running = warm.running()
    if running:
        warm.kill()
    warm.wait()
    return running


def _export(machine: Machine) -> list[dict[str, str]]:
    """The board, but for when it was published."""
    rows = csv.DictReader(io.StringIO(machine.run("board", "tailor", "--format", "csv")))
    return [{name: value for name, value in row.items() if name != "published_at"} for row in rows]


def _counts(machine: Machine) -> dict[str, int]:
    with sqlite3.connect(machine.home / "armillary.db", timeout=60) as db:
        return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}

"""Kill -9 in the middle of an evaluation: nothing lost, nothing twice, the same export."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.servers.prefect import PrefectServer

KILLS = 20
LONGEST = 12.0


@pytest.mark.timeout(1500)
@pytest.mark.xdist_group("servers")
def test_killed_at_random_moments_an_evaluation_ends_as_a_calm_one(
    tmp_path: Path, prefect_server: PrefectServer
) -> None:
    seed = int(os.environ.get("ARMILLARY_TEST_SEED", random.randrange(10**6)))
    print(f"seed {seed} (repeat with ARMILLARY_TEST_SEED={seed})")
    dice = random.Random(seed)
    small_shards = {"ARMILLARY_SHARD_SIZE": "2", **prefect_server.environment}
    calm, shaken = Machine(tmp_path / "calm", small_shards), Machine(tmp_path / "shaken", small_shards)
    bundle = drawn_outputs(tmp_path / "bundle.zip")
    for machine in (calm, shaken):
        machine.run("init")
    submission = calm.submit(bundle)
    calm.run("evaluate", submission)
    shaken.submit(bundle)

    for _ in range(KILLS):
        process = shaken.start("evaluate", submission)
        time.sleep(dice.uniform(1.0, LONGEST))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    shaken.run("evaluate", submission)

    assert _export(shaken) == _export(calm)
    assert _counts(shaken) == _counts(calm)
    assert "All agree with the board" in shaken.run("verify", submission)


def _export(machine: Machine) -> str:
    """The board without the one thing that may differ: when it was published."""
    lines = machine.run("board", "tailor", "--format", "csv").splitlines()
    column = lines[0].split(",").index("published_at")
    return "\n".join(",".join(part for n, part in enumerate(line.split(",")) if n != column) for line in lines[:2])


def _counts(machine: Machine) -> dict[str, int]:
    with sqlite3.connect(machine.home / "armillary.db") as db:
        names = ("submission", "run", "shard", "output", "reply", "verdict", "score", "cell")
        return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}

"""GPU slots that crashed runs held, at the settings that everybody has: the watchdog frees every
one in time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from flows.operate import prefect_runs, queue
from infra.settings import Settings
from tests.bundles import of_several_teams
from tests.faults.stack import Stack, standing
from tests.servers.unavailable import needs

SLOTS = 5
MARGIN = 90
"""Seconds after the end of its lease in which a dead run's slot has to be free."""


@pytest.mark.timeout(7200)
@pytest.mark.xdist_group("slots")
@pytest.mark.parametrize("crashes", [5, pytest.param(50, marks=pytest.mark.long)])
def test_slots_of_crashed_runs_are_free_within_the_lease_and_ninety_seconds(
    crashes: int, tmp_path: Path
) -> None:
    bundles = of_several_teams(tmp_path, SLOTS)
    many = {"ARMILLARY_ATTEMPTS": "1000"}
    took = []

    with needs(standing(tmp_path, bundles, SLOTS, many, "tests.faults.pretending:asleep")) as stack:
        queue.ask(Settings())
        for _ in range(crashes // SLOTS):
            took.append(freed_after(stack, all_at_work(stack)))
            stack.mend()
        within = Settings().lease_seconds + MARGIN

    print(
        f"{crashes} crashes; slots free after {', '.join(f'{seconds:.0f}' for seconds in took)} s, "
        f"{within:.0f} allowed"
    )
    assert len(took) * SLOTS == crashes
    assert max(took) <= within


def all_at_work(stack: Stack) -> set[str]:
    """Wait until every slot is held by a run that sleeps; the ids of these."""
    deadline = time.monotonic() + 300
    while (
        len(held := [run.id for run in prefect_runs.open_runs() if run.state == "RUNNING"]) < SLOTS
    ):
        assert time.monotonic() < deadline, stack.parts["worker"].tail()
        time.sleep(1)
    time.sleep(5)
    return set(held)


def freed_after(stack: Stack, held: set[str]) -> float:
    """Kill the worker with its runs; the seconds until the last of their slots is free."""
    stack.parts["worker"].kill()
    assert stack.kill_runs() == SLOTS
    start = time.monotonic()
    while held & {run.id for run in prefect_runs.open_runs()}:
        time.sleep(0.5)
    return time.monotonic() - start

"""Kill -9 of everything that a board runs on, at random moments: nothing lost, nothing twice, the
same export."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col, select

from flows.audit.audit import audit
from flows.operate import prefect_runs, queue
from infra.db import session
from infra.settings import Settings
from infra.tables import Shard, Submission
from infra.tables.operations import Lease
from leaderboard.export.static_site import write
from submissions.teams.lifecycle import TERMINAL
from tests.bundles import of_several_teams
from tests.faults.stack import Stack, standing
from tests.faults.test_kill import TABLES
from tests.servers.unavailable import needs

VICTIMS = ("worker", "run", "watchdog", "Prefect server", "database", "S3 server")
MOMENT = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?")
SLOTS = 2
QUICK = {
    "ARMILLARY_SHARD_SIZE": "3",
    "ARMILLARY_LEASE_SECONDS": "3",
    "ARMILLARY_PENDING_SECONDS": "15",
    "ARMILLARY_WATCHDOG_SECONDS": "1",
    "ARMILLARY_RETRY_SECONDS": "0.001",
    "ARMILLARY_ATTEMPTS": "1000",
    "PREFECT_WORKER_QUERY_SECONDS": "1",
}
"""Minutes of an ordinary board in seconds; a submission may be killed as often as it likes."""


@pytest.mark.timeout(7200)
@pytest.mark.xdist_group("servers")
@pytest.mark.parametrize(
    ("of_each", "entries"), [(2, 2), pytest.param(34, 24, marks=pytest.mark.long)]
)
def test_whatever_is_killed_every_submission_ends_as_on_a_calm_board(
    of_each: int, entries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = int(os.environ.get("ARMILLARY_TEST_SEED", random.randrange(10**6)))
    print(f"seed {seed} (repeat with ARMILLARY_TEST_SEED={seed})")
    dice = random.Random(seed)
    bundles = of_several_teams(tmp_path, entries)
    plan = dice.sample(VICTIMS * of_each, len(VICTIMS) * of_each)

    monkeypatch.setattr(queue, "PATIENCE", 5)
    with needs(
        standing(
            tmp_path, bundles, SLOTS, QUICK, f"tests.faults.pretending:calm:{tmp_path / 'calm'}"
        )
    ) as stack:
        board = Board(stack)
        at_work = sum(killed(board, victim, dice) for victim in plan)
        wait_for(lambda: board.open_submissions() == 0, 600, board.keep_going)
        wait_for(lambda: not prefect_runs.open_runs(), 120, board.keep_going)
        shaken, crashed = outcome(Settings().database, tmp_path / "shaken"), crashed_by_watchdog()

    calm = outcome(f"sqlite:///{tmp_path}/calm/armillary.db", tmp_path / "calm-export")
    print(
        f"{len(plan)} kills, {at_work} of them while submissions were in work; {crashed} runs "
        "marked by the watchdog"
    )
    assert [name for name in calm if calm[name] != shaken.get(name)] == []
    assert list(shaken) == list(calm)
    assert at_work >= len(plan) * 3 // 4
    assert crashed >= 1


@dataclass
class Board:
    """A board whose parts are killed, and those who keep it going: the platform and the
    publisher."""

    stack: Stack
    machines_lost: int = 0
    asked_at: float = 0

    def keep_going(self) -> None:
        """What died comes back, and what waits is asked for; while database or Prefect are away,
        later."""
        self.stack.mend()
        if time.monotonic() > self.asked_at + 2:
            self.asked_at = time.monotonic()
            with suppress(SQLAlchemyError, httpx.HTTPError):
                queue.ask(Settings())

    def open_submissions(self) -> int:
        """How many submissions have not come to their end; -1 while the database is away."""
        return self._count(select(func.count()).where(col(Submission.state).not_in(TERMINAL)))

    def shards(self) -> int:
        """How many pieces of work are done."""
        return self._count(select(func.count()).select_from(Shard))

    def held(self) -> int:
        """How many leases are in somebody's hands."""
        return self._count(select(func.count()).where(Lease.state == "held"))

    def _count(self, query: object) -> int:
        try:
            with session(Settings().database) as db:
                return int(db.exec(query).one())  # type: ignore[call-overload]
        except SQLAlchemyError:
            return -1


def killed(board: Board, victim: str, dice: random.Random) -> bool:
    """Let some work be done, wait a random moment, kill; say whether there was work in hand."""
    until = board.shards() + dice.randrange(3)
    wait_for(lambda: board.shards() >= until, 6, board.keep_going, must=False)
    if victim == "run":
        wait_for(lambda: bool(board.stack.runs()), 30, board.keep_going, must=False)
    # A machine goes down with its worker and its runs, or the worker alone; at least once the
    # former, under a lease.
    whole = victim == "worker" and (not board.machines_lost or dice.random() < 0.5)
    if whole:
        wait_for(lambda: board.held() > 0, 30, board.keep_going, must=False)
        board.machines_lost += 1
    time.sleep(dice.uniform(0, 0.7))
    open_ = board.open_submissions()
    if victim in board.stack.parts:
        board.stack.parts[victim].kill()
    if whole or victim == "run":
        board.stack.kill_runs()
    return open_ != 0


def wait_for(
    what: Callable[[], bool], seconds: float, meanwhile: Callable[[], None], *, must: bool = True
) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            assert not must, f"not within {seconds:g} seconds"
            return
        meanwhile()
        time.sleep(0.2)


def outcome(database: str, folder: Path) -> dict[str, object]:
    """How many rows there are of everything, the export byte by byte but for moments, and what the
    audit says."""
    from infra import tables

    with session(database) as db:
        every = {name: getattr(tables, name.capitalize()) for name in TABLES}
        counts = {
            name: db.exec(select(func.count()).select_from(table)).one()
            for name, table in every.items()
        }
        # The audit's chain tells of the kills too.
        files = [path for path in write(db, folder) if path.name != "audit.json"]
        found = audit(db).findings
    exported = {str(path.relative_to(folder)): MOMENT.sub(b"", path.read_bytes()) for path in files}
    return {**counts, **exported, "audit": found}


def crashed_by_watchdog() -> int:
    """How many of Prefect's runs the watchdog marked, and so freed the slot that a dead one
    held."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter

    wanted = FlowRunFilter.model_validate({"state": {"type": {"any_": ["CRASHED"]}}})
    with get_client(sync_client=True) as client:
        found = client.read_flow_runs(flow_run_filter=wanted, limit=200)
    return sum("watchdog" in (run.state.message or "") for run in found if run.state)

"""What evaluations in forked processes can be made to be, before they begin."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import pytest

from flows.durable.shard_results import ShardResult
from flows.evaluate import outputs
from flows.evaluate.door import receive
from flows.evaluate.flow import evaluate
from flows.operate import deployments
from flows.workers.specs import OutputsWork, WorkerPlace
from infra import leases
from infra.settings import Settings
from tests.boards import stock


def calm(home: str) -> None:
    """All bundles beside this home, evaluated in it one after the other; who did that once does it
    quicker again."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATABASE_URL", "STORE", "S3_ENDPOINT"):
            patch.delenv(f"ARMILLARY_{name}", raising=False)
        patch.setenv("ARMILLARY_HOME", home)
        settings = stock(Settings())
        for bundle in sorted(settings.home.parent.glob("*.zip")):
            evaluate.fn(receive(settings, str(bundle), None, None).submission_id)


def elsewhere() -> None:
    """On another machine, of whose processes nothing is known here: only a lease tells that they
    live."""
    here = leases.new_owner
    leases.new_owner = lambda: f"elsewhere{here().removeprefix(socket.gethostname())}"


def asleep() -> None:
    """With shards that sleep until somebody kills them."""

    def sleep(work: OutputsWork, place: WorkerPlace) -> ShardResult:
        time.sleep(36_000)
        raise AssertionError(f"nobody killed {work} at {place}")

    outputs.make_outputs = outputs.shard_task(sleep)


def begin_forked(fork: str) -> None:
    """With runs that begin as forks of one process instead of importing everything anew."""
    deployments.RUN_COMMAND = (
        *(sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "forked.py")),
        *("run", fork, "flows.operate.run_main"),
    )

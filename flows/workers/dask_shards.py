"""Shards over a Dask cluster: one a GPU at a time, a dead worker's goes to another, and what a
worker failed is tried elsewhere."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from flows.durable.lease import HeldLease, LeaseLost, under
from flows.workers.confined.fault_rules import GivenBack, WorkerFault
from flows.workers.dask_cluster import SLOT, connect, slots_of
from infra.settings import Settings

log = logging.getLogger("armillary")
WATCHED_SECONDS = 1.0
"""How often a worker looks whether its shard is still wanted."""
ASKED_SECONDS = 20.0
"""How often the cluster is asked whether it works on our shards, and whether it still can."""
TURN = ("armillary", "turn")
"""Under which name the scheduler keeps the turn that the cluster is at."""


@dataclass(frozen=True, slots=True)
class ShardCall:
    """One shard as it travels: what to call, how often to try, and how long to wait between."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    waits: tuple[float, ...]


@dataclass
class DaskRunner:
    """Hands the shards of a submission to the cluster, which takes those of all submissions in
    turns. The workers run plain functions: no word of them goes to Prefect."""

    client: Any
    first: int = 0
    """The turn in which its first shard is due; each further one is due a turn later."""
    submitted: int = 0
    ended: int = 0
    asked_at: float = 0.0
    works: bool = True
    only: dict[str, frozenset[str]] = field(default_factory=dict)
    """The workers that may take a shard which others failed, by its key."""
    looked_at: float = 0.0

    def submit(
        self, task: Any, arguments: dict[str, Any], failed_on: frozenset[str] = frozenset()
    ) -> Any:
        """Hand a shard to whichever worker has a slot, but for those that failed it if there are
        others. The dearest come first because they were put first; one that was begun before comes
        before them. When its worker dies, the scheduler hands it to another, three times unless its
        `allowed-failures` says otherwise; Dask's `retries` are for errors, which are ours."""
        waits = tuple(task.retry_delay_seconds or ())[: task.retries]
        call = ShardCall(task.fn, arguments, waits)
        others = self._workers() - failed_on if failed_on else frozenset[str]()
        future = self.client.submit(
            run_shard,
            call,
            pure=False,
            resources={SLOT: 1},
            workers=sorted(others) or None,
            priority=-self.first - (0 if failed_on else self.submitted),
        )
        self.submitted += 1
        if others:
            self.only[future.key] = others
        return future

    def finished(self, futures: Iterable[Any], seconds: float) -> list[Any]:
        """Those that have ended, after so many seconds at most, and those that nobody can end."""
        from distributed import TimeoutError, wait

        waiting = list(futures)
        with suppress(TimeoutError), self.client.as_current():
            wait(waiting, timeout=seconds, return_when="FIRST_COMPLETED")
        stranded = self._stranded(waiting)
        return [future for future in waiting if future.done() or future.key in stranded]

    def result(self, future: Any) -> Any:
        """What it returned; what it raised is raised. A shard whose workers have all left is to be
        tried again."""
        only = self.only.pop(future.key, None)
        if only and not future.done():
            self.cancel([future])
            raise WorkerFault("the workers that had not failed it have left")
        returned = future.result()
        self._end_turn()
        return returned

    def _end_turn(self) -> None:
        """Tell the cluster which turn it is at: a submission that comes later begins there, neither
        behind nor before all that others still have to do."""
        self.ended += 1
        with suppress(OSError):  # it may be told the next time
            if self.first + self.ended > turn_of(self.client):
                self.client.set_metadata(list(TURN), self.first + self.ended)

    def _workers(self) -> frozenset[str]:
        return frozenset(place for place, slots in slots_of(self.client).items() if slots)

    def _stranded(self, futures: Iterable[Any]) -> set[str]:
        """The keys of shards that wait for workers which have left, as the cluster says from time
        to time: Dask would have them wait for ever."""
        waiting = {future.key for future in futures if not future.done()} & self.only.keys()
        if not waiting or time.monotonic() - self.looked_at < ASKED_SECONDS:
            return set()
        self.looked_at = time.monotonic()
        with suppress(OSError):  # a worker dies meanwhile
            there = self._workers()
            return {key for key in waiting if there and not self.only[key] & there}
        return set()

    def works_on(self, futures: Iterable[Any]) -> bool:
        """Whether a worker has begun one of them, or all wait behind those of others; as the
        cluster said it lately."""
        if time.monotonic() - self.asked_at > ASKED_SECONDS:
            keys = {future.key for future in futures}
            with suppress(OSError):  # a worker dies meanwhile
                begun = self.client.call_stack().values()
                self.works = any(keys & of_worker.keys() for of_worker in begun)
            self.asked_at = time.monotonic()
        return self.works

    def cancel(self, futures: Iterable[Any]) -> None:
        """Nobody wants them any more: their workers stop within seconds."""
        self.client.cancel(list(futures), force=True)


@contextmanager
def dask_runner(settings: Settings) -> Iterator[DaskRunner]:
    """A runner over the cluster that the settings name."""
    with connect(settings) as client:
        yield DaskRunner(client, turn_of(client))


def turn_of(client: Any) -> int:
    """The turn that the cluster is at: so many shards of each submission have been worked on."""
    return int(client.get_metadata(list(TURN), 0))


def run_shard(call: ShardCall) -> Any:
    """On a worker: run it, and again after an error that is not the machine's; stop when nobody
    waits for it any more. A fault of the machine goes back with the worker's address."""
    from distributed import get_worker

    worker = get_worker()
    try:
        with wanted(worker, worker.get_current_task()):
            return _run(call)
    except WorkerFault as fault:
        fault.where = worker.address
        raise


def _run(call: ShardCall) -> Any:
    for wait in call.waits:
        try:
            return call.function(**call.arguments)
        except (WorkerFault, GivenBack, LeaseLost):
            raise
        except Exception:
            log.exception("a shard failed and is tried again in %g s", wait)
            time.sleep(wait)
    return call.function(**call.arguments)


@contextmanager
def wanted(worker: Any, key: str) -> Iterator[None]:
    """Run the block under a lease that is lost when the cluster has forgotten the shard: whoever
    asked for it lost its own, ended, or died."""
    hold = HeldLease(key, "dask")

    def watch() -> None:
        while not hold.ended.wait(WATCHED_SECONDS):
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                hold.lost.set()
                return

    threading.Thread(target=watch, daemon=True, name=f"wanted {key}").start()
    try:
        with under(hold):
            yield
    finally:
        hold.ended.set()

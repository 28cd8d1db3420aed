"""A Dask cluster that is there already: one shard a GPU at a time, and a dead worker's shard goes
to another. Its workers know the store and the scheduler, neither the database nor Prefect."""

from __future__ import annotations

import ipaddress
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.durable.lease import HeldLease, LeaseLost, under
from flows.workers.confined.fault_rules import GivenBack, WorkerFault
from infra.alive import sign_of_life
from infra.logs import log_to
from infra.settings import Settings

log = logging.getLogger("armillary")
SLOT = "GPU"
"""The resource of which each worker has as many as it may run shards at once."""
WATCHED_SECONDS = 1.0
"""How often a worker looks whether its shard is still wanted."""
ASKED_SECONDS = 20.0
"""How often the cluster is asked whether it works on our shards."""


class NoCluster(Exception):
    """The cluster does not answer or cannot be used; the message says what to do."""


def address(engine: str, certificates: Path | None = None) -> str:
    """What Dask calls the scheduler that our setting names. Without certificates it has to be on
    this machine: whoever can speak to a scheduler can have its workers run anything.

    >>> address("dask://127.0.0.1:8786")
    'tcp://127.0.0.1:8786'
    >>> address("dask://10.0.0.5:8786", Path("certificates"))
    'tls://10.0.0.5:8786'
    """
    place = engine.removeprefix("dask://")
    if certificates:
        return f"tls://{place}"
    if not _is_here(place.rpartition(":")[0]):
        raise NoCluster(
            f"The Dask scheduler {engine} is on another machine, and Dask without certificates "
            "lets everybody run anything on its workers. Write some with `armillary operate "
            "certificates FOLDER` and set ARMILLARY_CERTIFICATES for each process."
        )
    return f"tcp://{place}"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """What one process shows to the others of its cluster, and how it knows them."""

    authority: Path
    certificate: Path
    key: Path

    @classmethod
    def of(cls, folder: Path) -> TlsFiles:
        """The three files of a folder; NoCluster when one is missing."""
        files = cls(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
        for path in (files.authority, files.certificate, files.key):
            if not path.is_file():
                raise NoCluster(
                    f"ARMILLARY_CERTIFICATES is {folder}, which has no {path.name}. Name a folder "
                    "that `armillary operate certificates` wrote."
                )
        return files

    def flags(self) -> list[str]:
        """As options of Dask's commands."""
        return [
            *("--tls-ca-file", str(self.authority)),
            *("--tls-cert", str(self.certificate)),
            *("--tls-key", str(self.key)),
        ]


def connect(settings: Settings, seconds: float = 30) -> Any:
    """A client of the cluster that the settings name; NoCluster if nobody answers."""
    try:
        from distributed import Client
        from distributed.security import Security
    except ImportError:
        raise NoCluster(
            "ARMILLARY_ENGINE names a Dask cluster. Install it: pip install 'armillary[dask]'."
        ) from None
    where = address(settings.engine, settings.certificates)
    security = None
    if settings.certificates:
        files = TlsFiles.of(settings.certificates)
        security = Security(
            tls_ca_file=str(files.authority),
            tls_client_cert=str(files.certificate),
            tls_client_key=str(files.key),
            require_encryption=True,
        )
    try:
        return Client(where, timeout=seconds, set_as_default=False, security=security)
    except OSError:
        raise NoCluster(
            f"The Dask scheduler {settings.engine} does not answer, or takes no certificate of "
            "ours. Start it (`armillary operate scheduler`) or change ARMILLARY_ENGINE."
        ) from None


def check(settings: Settings, seconds: float = 30) -> int:
    """How many shards the cluster runs at once; NoCluster if nobody answers."""
    with connect(settings, seconds) as client:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(int(worker["resources"].get(SLOT, 0)) for worker in workers)


@dataclass(frozen=True, slots=True)
class ShardCall:
    """One shard as it travels: what to call, how often to try, and how long to wait between."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    waits: tuple[float, ...]


@dataclass
class DaskRunner:
    """Hands shards to the cluster. The workers run plain functions: no word of them goes to
    Prefect."""

    client: Any
    asked_at: float = 0.0
    works: bool = True

    def submit(self, task: Any, arguments: dict[str, Any]) -> Any:
        """Hand a shard to whichever worker has a slot; the dearest come first because they were
        put first. When its worker dies, the scheduler hands it to another, three times unless its
        `allowed-failures` says otherwise; Dask's `retries` are for errors, which are ours."""
        waits = tuple(task.retry_delay_seconds or ())[: task.retries]
        call = ShardCall(task.fn, arguments, waits)
        return self.client.submit(run_shard, call, pure=False, resources={SLOT: 1})

    def finished(self, futures: Iterable[Any], seconds: float) -> list[Any]:
        """Those that have ended, after so many seconds at most."""
        from distributed import TimeoutError, wait

        waiting = list(futures)
        try:
            with self.client.as_current():
                wait(waiting, timeout=seconds, return_when="FIRST_COMPLETED")
        except TimeoutError:
            return []
        return [future for future in waiting if future.done()]

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
        yield DaskRunner(client)


def run_shard(call: ShardCall) -> Any:
    """On a worker: run it, and again after an error that is not the machine's; stop when nobody
    waits for it any more."""
    from distributed import get_worker

    worker = get_worker()
    with wanted(worker, worker.get_current_task()):
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


def scheduler_command(host: str, port: int, certificates: Path | None) -> list[str]:
    """The command of a scheduler: no page that shows its insides to everybody."""
    import sys

    address(f"dask://{host}:{port}", certificates)
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    where = ["--host", host, "--port", str(port), "--no-dashboard", "--no-show"]
    tls = TlsFiles.of(certificates).flags() if certificates else []
    return [*program, *where, *(["--protocol", "tls"] if tls else []), *tls]


def worker_command(scheduler: str, name: str, slots: int, certificates: Path | None) -> list[str]:
    """The command of a worker: one process, one thread a slot, models stay loaded in it."""
    import sys

    where = address(f"dask://{scheduler}", certificates)
    program = [sys.executable, "-m", "distributed.cli.dask_worker", where]
    slots_of = ["--nthreads", str(slots), "--no-nanny", "--resources", f"{SLOT}={slots}"]
    tls = TlsFiles.of(certificates).flags() if certificates else []
    return [*program, *slots_of, "--no-dashboard", "--name", name, "--preload", __name__, *tls]


def dask_setup(server: Any) -> None:
    """Dask calls this in a worker before its first shard: our log goes where this machine's
    settings say, and a file shows that its loop comes round."""
    from tornado.ioloop import PeriodicCallback

    settings = Settings()
    log_to(settings.home, settings.log)
    beat = PeriodicCallback(lambda: sign_of_life("worker-shards"), 10_000)
    server.periodic_callbacks["sign of life"] = beat
    beat.start()

"""A Dask cluster that is there already: how it is reached, who is let in, and the commands of its
processes. Its workers know the store and the scheduler, neither the database nor Prefect."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.alive import sign_of_life
from infra.logs import log_to
from infra.settings import Settings

SLOT = "GPU"
"""The resource of which each worker has as many as it may run shards at once."""


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
        return sum(slots_of(client).values())


def slots_of(client: Any) -> dict[str, int]:
    """How many shards each worker runs at once, by address."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return {place: int(worker["resources"].get(SLOT, 0)) for place, worker in workers.items()}


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
    threads = ["--nthreads", str(slots), "--no-nanny", "--resources", f"{SLOT}={slots}"]
    tls = TlsFiles.of(certificates).flags() if certificates else []
    return [*program, *threads, "--no-dashboard", "--name", name, "--preload", __name__, *tls]


def dask_setup(server: Any) -> None:
    """Dask calls this in a worker before its first shard: our log goes where this machine's
    settings say, and a file shows that its loop comes round."""
    from tornado.ioloop import PeriodicCallback

    settings = Settings()
    log_to(settings.home, settings.log)
    beat = PeriodicCallback(lambda: sign_of_life("worker-shards"), 10_000)
    server.periodic_callbacks["sign of life"] = beat
    beat.start()

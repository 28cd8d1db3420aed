"""The doctor's round: every part of the installation, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flows.cli.doctor import installation, judge, processes, servers
from flows.cli.doctor.finding import DoctorFinding
from infra.settings import Settings

PARTS: tuple[Callable[[Settings], Iterator[DoctorFinding]], ...] = (
    installation.python,
    installation.packages,
    installation.traps,
    servers.database,
    servers.object_store,
    processes.prefect,
    processes.cluster,
    processes.watchdog,
    judge.judge,
    installation.confinement,
    servers.clock,
    installation.disk,
    installation.device,
)


def examine(settings: Settings) -> list[DoctorFinding]:
    """Look at everything once; nothing is changed."""
    return [finding for part in PARTS for finding in part(settings)]

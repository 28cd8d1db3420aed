"""What some work costs in CPU seconds: in this process and its children, those that go on living
too, and apart from them in Prefect's temporary server."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil


@dataclass(frozen=True, slots=True)
class CpuCost:
    """CPU seconds of some work: our own with the children that decode, and those of Prefect's
    server."""

    ours: float
    server: float


def cpu_cost(work: Callable[[], Any]) -> tuple[CpuCost, Any]:
    """What some work costs, and what it returned."""
    start = _spent()
    result = work()
    end = _spent()
    return CpuCost(end.ours - start.ours, end.server - start.server), result


def _spent() -> CpuCost:
    children = psutil.Process().children(recursive=True)
    server = [one for one in children if _is_server(one)]
    apart = {one.pid for one in server}
    alive = sum(_cpu_of(one) for one in children if one.pid not in apart)
    return CpuCost(sum(os.times()[:4]) + alive, sum(map(_cpu_of, server)))


def _cpu_of(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def _is_server(process: psutil.Process) -> bool:
    try:
        return "uvicorn" in " ".join(process.cmdline())
    except psutil.ZombieProcess:  # it has ended, and nobody has asked how
        return False

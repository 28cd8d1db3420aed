"""What a board costs while nothing happens: processor time of watchdog and workers, beside
Prefect's own server."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import psutil

from tests.bench.report import at_most, report, shown
from tests.command import ROOT, Machine
from tests.servers import prefect
from tests.servers.process import running

SECONDS = float(os.environ.get("ARMILLARY_BENCH_IDLE_SECONDS", "120"))
SETTLED_SECONDS = 30.0
PARTS = {
    "watchdog": ("operate", "watchdog"),
    "cpu worker": ("operate", "worker", "--pool", "cpu"),
    "gpu worker": ("operate", "worker", "--pool", "gpu"),
}
SIGNS = {"watchdog", "inbox", "queue", "worker-cpu", "worker-gpu"}
GOAL_PERCENT = 2.0


def main() -> int:
    """Start everything, let it settle, and count."""
    with (
        tempfile.TemporaryDirectory(prefix="armillary-bench-") as name,
        prefect.serve() as server,
        ExitStack() as stack,
    ):
        folder = Path(name)
        machine = Machine(folder / "home", server.environment)
        machine.run_alone("init")
        machine.run_alone("operate", "deploy")
        pids = {"Prefect's server": server.pids[0]}
        for part, arguments in PARTS.items():
            command = [sys.executable, "-m", "flows.cli.app", *arguments]
            process = stack.enter_context(
                running(command, folder / part, environment=machine.environment, folder=ROOT)
            )
            pids[part] = process.pid
        time.sleep(SETTLED_SECONDS)
        before = {part: cpu_seconds(pid) for part, pid in pids.items()}
        time.sleep(SECONDS)
        signs = {path.name for path in (machine.home / "alive").iterdir()}
        assert signs == SIGNS, f"not everything is at work: {signs}"
        assert all(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids.values())
        spent = {part: cpu_seconds(pid) - before[part] for part, pid in pids.items()}
    percent = {part: 100 * seconds / SECONDS for part, seconds in spent.items()}
    rows = [shown(f"{part}, % of a core", value) for part, value in percent.items()]
    ours = sum(percent[part] for part in PARTS)
    return report("idle", [*rows, at_most("ours together, % of a core", ours, GOAL_PERCENT)])


def cpu_seconds(pid: int) -> float:
    """What a process and all that it started have used, ended children too."""
    root = psutil.Process(pid)
    times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return float(
        sum(each.user + each.system for each in times)
        + root.cpu_times().children_user
        + root.cpu_times().children_system
    )


if __name__ == "__main__":
    sys.exit(main())

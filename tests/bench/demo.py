"""What the demo costs, suite by suite: CPU seconds of making what is handed in, evaluating it and
the rows beside it, in a fresh home."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil

from tests.bench.report import at_most, report, shown

GOAL_SECONDS = 60.0
UNIVERSE = ("universe", "universe_worlds", "universe_truth")


def main() -> int:
    """Run the demo's parts one after the other and print the table."""
    with tempfile.TemporaryDirectory(prefix="armillary-bench-") as folder:
        os.environ["ARMILLARY_HOME"] = folder
        costs = _costs(Path(folder))
    universe = sum(costs[name] for name in UNIVERSE)
    rows = [shown(f"CPU seconds of {name}", costs[name]) for name in ("before", "tailor", "liva")]
    return report(
        "demo",
        [
            *rows,
            at_most("CPU seconds of sc3", costs["sc3"], GOAL_SECONDS),
            at_most("CPU seconds of UNIVERSE's boards together", universe, GOAL_SECONDS),
            shown("CPU seconds of the whole demo", sum(costs.values())),
        ],
    )


def _costs(home: Path) -> dict[str, float]:
    from flows.cli.demo import DEMOS, judge_folder, judge_for
    from flows.evaluate.door import receive
    from flows.evaluate.flow import run_here
    from flows.suites.yardsticks import stand
    from infra.settings import Settings

    costs: dict[str, float] = defaultdict(float)
    settings, spent = Settings(home=home), _spent()
    _begin(settings)
    judge = f"vlm:{judge_folder(settings)}"
    costs["before"] = _spent() - spent
    for make in DEMOS:
        for bundle in _counted(costs, make.__module__.rpartition(".")[2], make, settings):
            spent = _spent()
            submission = receive(settings, str(bundle), None, None).submission_id
            run_here(submission, settings, judge_for(settings, submission, judge))
            costs[_suite_of(settings, submission)] += _spent() - spent
    spent = _spent()
    for brought in stand(settings, judge):
        costs[_suite_of(settings, brought.name)] += _spent() - spent
        spent = _spent()
    return costs


def _counted(costs: dict[str, float], name: str, work: Any, *given: Any) -> Any:
    spent = _spent()
    done = work(*given)
    costs[name] += _spent() - spent
    return done


def _begin(settings: Any) -> None:
    from flows.run.catalogue import load
    from flows.workers.executor import prepare
    from infra.db import migrate, session

    prepare(settings)
    migrate(settings.database)
    with session(settings.database) as db:
        load(db)


def _suite_of(settings: Any, submission: str) -> str:
    from infra import tables
    from infra.db import session

    with session(settings.database) as db:
        return db.get_one(tables.Submission, submission).suite


def _spent() -> float:
    """CPU seconds of this process and its children, those that go on living too."""
    alive = 0.0
    for child in psutil.Process().children(recursive=True):
        times = child.cpu_times()
        alive += times.user + times.system
    return sum(os.times()[:4]) + alive


if __name__ == "__main__":
    sys.exit(main())

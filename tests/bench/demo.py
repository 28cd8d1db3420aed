"""What the demo costs, suite by suite: CPU seconds of making what is handed in, evaluating it and
the rows beside it, in a fresh home."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.cpu import cpu_cost
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
    from flows.cli.demo import DEMOS
    from flows.suites.yardsticks import stand
    from infra.settings import Settings

    costs: dict[str, float] = defaultdict(float)
    settings = Settings(home=home)
    cost, judge = cpu_cost(partial(_begin, settings))
    costs["before"] = cost.ours + cost.server
    for make in DEMOS:
        cost, _ = cpu_cost(partial(_hand_in, make, settings, judge))
        costs[make.__module__.rpartition(".")[2]] += cost.ours + cost.server
    rows = stand(settings, judge)
    while True:
        cost, brought = cpu_cost(partial(next, rows, None))
        if brought is None:
            return costs
        costs[_suite_of(settings, brought.name)] += cost.ours + cost.server


def _begin(settings: Any) -> str:
    """Database, catalogue and the demo's judge."""
    from flows.cli.demo import judge_folder
    from flows.run.catalogue import load
    from flows.workers.executor import prepare
    from infra.db import migrate, session

    prepare(settings)
    migrate(settings.database)
    with session(settings.database) as db:
        load(db)
    return f"vlm:{judge_folder(settings)}"


def _hand_in(make: Any, settings: Any, judge: str) -> None:
    from flows.cli.demo import judge_for
    from flows.evaluate.door import receive
    from flows.evaluate.flow import run_here

    for bundle in make(settings):
        submission = receive(settings, str(bundle), None, None).submission_id
        run_here(submission, settings, judge_for(settings, submission, judge))


def _suite_of(settings: Any, submission: str) -> str:
    from infra import tables
    from infra.db import session

    with session(settings.database) as db:
        return db.get_one(tables.Submission, submission).suite


if __name__ == "__main__":
    sys.exit(main())

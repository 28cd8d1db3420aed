"""What the pipeline costs beside decoding: the whole bank, 18 questions a sample, an instant judge,
against a bare loop of the same rows.

The bare loop knows every row before it begins and writes them into the same tables as ours: a copy
of the database as it stood before the evaluation, with its keys, constraints and indexes, foreign
keys on as our engine has them, SQLite's own journal, one `execute` a row, one transaction. The
plain loop is barer still: one INSERT a judgement into a table without keys. The judge's exam, which
it sits once and not for each entry, is counted by itself.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from PIL import Image

from tests.bench.cpu import cpu_cost
from tests.bench.pipeline_entry import (
    amounting_to,
    declare,
    lengthen,
    tenth_of_tasks,
    write_bundle,
)
from tests.bench.report import Row, at_most, report, shown
from tests.bench.rivals import rivals
from tests.bench.where import spent_in

REQUESTS = 28_800
"""How many judgements the goal in seconds is set for, and what other frameworks are asked."""
GOAL_CPU, GOAL_SECONDS, GOAL_MEMORY, GOAL_GROWTH = 15.0, 4.5, 1.0, 1.1
MOST_PLACES = 60


def main() -> int:
    """Run each entry in a process of its own, one after the other, and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--entry", choices=("tenth", "full", "goal"))
    arguments.add_argument("--samples", type=Path, help="where a run leaves or finds its samples")
    arguments.add_argument("--where", action="store_true", help="show where the time goes instead")
    wishes = arguments.parse_args()
    if wishes.where:
        return _show_places()
    if wishes.entry:
        print(json.dumps(asdict(_entry(wishes.entry, wishes.samples))))
        return 0
    with tempfile.TemporaryDirectory(prefix="armillary-bench-") as folder:
        samples = Path(folder) / "samples.json"
        tenth, full, goal = (_apart(entry, samples) for entry in ("tenth", "full", "goal"))
    assert goal.judgements == REQUESTS, goal
    for name, run in (("the full entry", full), (f"{REQUESTS} judgements", goal)):
        print(f"{name}, CPU seconds: {_parts(run)}")
    print(f"Peak memory: {full.memory:.2f} GB, with a tenth of the items {tenth.memory:.2f} GB")
    return report("pipeline", [*_rows(goal, full), *_against_rivals(goal), *_memory(full, tenth)])


def _rows(goal: Run, full: Run) -> list[Row]:
    everything = (full.ours + full.server) / full.bare
    return [
        at_most(f"CPU seconds beside decoding, {REQUESTS} judgements", goal.ours, GOAL_SECONDS),
        shown(f"CPU seconds of the loop with keys and indexes, {goal.rows} rows", goal.bare),
        shown(f"CPU seconds of the plain loop, {REQUESTS} INSERTs without keys", goal.plain),
        shown("ours against the loop with keys and indexes", goal.ours / goal.bare),
        shown("ours against the plain loop", goal.ours / goal.plain),
        shown(f"the full entry: CPU seconds, {full.judgements} judgements", full.ours),
        at_most(
            f"the full entry against a loop with keys and indexes, {full.rows} rows",
            full.ours / full.bare,
            GOAL_CPU,
        ),
        shown("the same with Prefect's temporary server", everything),
    ]


def _against_rivals(goal: Run) -> list[Row]:
    """Other frameworks with their dummy models, in this run of the bench."""
    rows = []
    for rival in rivals(REQUESTS):
        if rival.seconds is None:
            print(f"{rival.name} could not be run: {rival.why_not}")
            continue
        rows.append(shown(f"CPU seconds of {rival.name}, {rival.requests} requests", rival.seconds))
        share = rival.requests / goal.judgements
        ratio = goal.ours * share / rival.seconds
        rows.append(shown(f"ours against {rival.name}, for as many", ratio))
    return rows


def _memory(full: Run, tenth: Run) -> list[Row]:
    growth = full.memory / tenth.memory
    return [
        at_most("peak memory in GB", full.memory, GOAL_MEMORY),
        at_most("peak memory against a tenth of the items", growth, GOAL_GROWTH),
    ]


def _parts(run: Run) -> str:
    return (
        f"door {run.door:.2f}, decoding {run.decoding:.2f}, evaluation {run.evaluation:.2f}, loop "
        f"with keys {run.bare:.3f}, plain loop {run.plain:.3f}; beside it Prefect's server "
        f"{run.server:.2f} and the judge's exam {run.exam:.2f}"
    )


def _apart(entry: str, samples: Path) -> Run:
    command = [sys.executable, "-m", "tests.bench.pipeline", "--entry", entry]
    finished = subprocess.run(
        [*command, "--samples", str(samples)], stdout=subprocess.PIPE, text=True, check=True
    )
    return Run(**json.loads(finished.stdout.splitlines()[-1]))


def _entry(entry: str, samples: Path) -> Run:
    """Measure one entry; the full one leaves which of its samples come to the judgements of the
    goal."""
    lengthen()
    if entry == "tenth":
        declare(entry, tenth_of_tasks())
    elif entry == "goal":
        declare(entry, frozenset(json.loads(samples.read_text())))
    with _home() as settings:
        run = _measured(settings, entry)
        if entry == "full":
            chosen = amounting_to(
                REQUESTS, settings.home / "bundle.zip", settings.home / "armillary.db"
            )
            samples.write_text(json.dumps(sorted(chosen)))
    return run


def _show_places() -> int:
    """Which of our functions the CPU time of the full entry's evaluation goes through."""
    lengthen()
    with _home() as settings:
        bundle = write_bundle(settings.home / "bundle.zip", "full")
        _warm(settings)
        submission_id = _receive(settings, bundle)
        with spent_in() as seconds:
            exam = _evaluate(settings, submission_id)
    print(f"CPU seconds by function, with what it calls; the judge's exam is {exam:.2f} of it")
    dearest = sorted(seconds.items(), key=lambda place: place[1], reverse=True)
    for name, spent in dearest[:MOST_PLACES]:
        print(f"{spent:7.3f}  {name}")
    return 0


@dataclass(frozen=True, slots=True)
class Run:
    """CPU seconds of each part, how many rows there are, and the most memory this process held, in
    GB."""

    door: float
    decoding: float
    evaluation: float
    server: float
    exam: float
    bare: float
    plain: float
    rows: int
    judgements: int
    memory: float

    @property
    def ours(self) -> float:
        """What the door and the evaluation take beside decoding."""
        return max(self.door - self.decoding, 0.0) + self.evaluation


@contextmanager
def _home() -> Iterator[Any]:
    with tempfile.TemporaryDirectory(prefix="armillary-bench-") as folder:
        os.environ["ARMILLARY_HOME"] = folder
        from infra.settings import Settings

        yield Settings()


def _measured(settings: Any, subset: str) -> Run:
    bundle = write_bundle(settings.home / "bundle.zip", subset)
    _warm(settings)
    door, submission_id = cpu_cost(lambda: _receive(settings, bundle))
    decoding, _ = cpu_cost(lambda: _decode(bundle))
    database = settings.home / "armillary.db"
    before = _last_rows(database)
    copies = [_copy(database, settings.home / f"bare-{number}.db") for number in range(5)]
    evaluation, exam = cpu_cost(lambda: _evaluate(settings, submission_id))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    rows = _new_rows(database, before)
    bare = statistics.median(cpu_cost(partial(_bare, rows, copy))[0].ours for copy in copies)
    count, judgements = sum(map(len, rows.values())), rows["verdict"]
    plain, _ = cpu_cost(lambda: _plain(judgements, settings.home / "plain.db"))
    return Run(
        door.ours,
        decoding.ours,
        evaluation.ours - exam,
        evaluation.server,
        exam,
        bare,
        plain.ours,
        count,
        len(judgements),
        memory,
    )


def _warm(settings: Any) -> None:
    """Imports, database, catalogue and Prefect's server are there before the clock starts."""
    from flows.run.catalogue import load
    from flows.workers.executor import prepare
    from infra.db import migrate, session

    prepare(settings)
    migrate(settings.database)
    with session(settings.database) as db:
        load(db)
    import great_expectations  # noqa: F401
    from prefect import flow

    import flows.evaluate.flow  # noqa: F401

    @flow(name="warm")
    def nothing() -> None:
        """Starts the server."""

    nothing()


def _receive(settings: Any, bundle: Path) -> str:
    from flows.evaluate.door import receive

    return receive(settings, str(bundle), None, None).submission_id


def _decode(bundle: Path) -> None:
    """What any program has to do: read each file, hash it, decode it."""
    from evaluators.media import read_frames

    with zipfile.ZipFile(bundle) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            data = archive.read(name)
            hashlib.sha256(data).hexdigest()
            if name.endswith(".png"):
                Image.open(io.BytesIO(data)).convert("RGB").getextrema()
            elif name.endswith(".mp4"):
                spot = Path(folder) / "clip.mp4"
                spot.write_bytes(data)
                read_frames(spot)


def _evaluate(settings: Any, submission_id: str) -> float:
    """Evaluate; the CPU seconds that the judge's exam took of it."""
    from flows.evaluate.flow import run_here
    from flows.publish.exam_sitting import ensure_sitting

    costs: list[float] = []

    def counted(*work: Any) -> int:
        cost, asked = cpu_cost(lambda: ensure_sitting(*work))
        costs.append(cost.ours)
        return int(asked)

    with patch("flows.publish.publish.ensure_sitting", counted):
        run_here(submission_id, settings)
    return sum(costs)


Rows = dict[str, list[tuple[Any, ...]]]


def _last_rows(database: Path) -> dict[str, int]:
    with closing(sqlite3.connect(database)) as db:
        names = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            name: db.execute(f'SELECT coalesce(max(rowid), 0) FROM "{name}"').fetchone()[0]
            for name in names
        }


def _new_rows(database: Path, before: dict[str, int]) -> Rows:
    """Every row of every table that the evaluation added."""
    with closing(sqlite3.connect(database)) as db:
        return {
            name: db.execute(f'SELECT * FROM "{name}" WHERE rowid > ?', (last,)).fetchall()
            for name, last in before.items()
        }


def _copy(database: Path, to: Path) -> Path:
    """The same tables with all that the new rows will refer to."""
    with closing(sqlite3.connect(database)) as db:
        db.execute("VACUUM INTO ?", (str(to),))
    return to


def _bare(rows: Rows, to: Path) -> None:
    """The very rows, which lie in memory, one plain insert each into the same tables, in one
    transaction."""
    with closing(sqlite3.connect(to)) as db:
        db.execute("PRAGMA foreign_keys=ON")
        for name, some in rows.items():
            if some:
                into = f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(some[0]))})'
                for row in some:
                    db.execute(into, row)
        db.commit()


def _plain(judgements: list[tuple[Any, ...]], to: Path) -> None:
    """One INSERT a judgement into a table without keys, in one transaction."""
    with closing(sqlite3.connect(to)) as db:
        db.execute("CREATE TABLE judgement (sample, question, answer)")
        for row in judgements:
            db.execute("INSERT INTO judgement VALUES (?, ?, ?)", row[:3])
        db.commit()


if __name__ == "__main__":
    sys.exit(main())

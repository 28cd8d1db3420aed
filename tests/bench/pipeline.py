"""What the pipeline costs beside decoding: the whole bank, an instant judge, against a bare loop of
the same rows.

The bare loop knows every row before it begins and writes them into the same tables as ours: a copy
of the database as it stood before the evaluation, with its keys, constraints and indexes, foreign
keys on as our engine has them, SQLite's own journal, one `execute` a row, one transaction. The
plain loop is barer still: one INSERT a judgement into a table without keys. The judge's exam, which
it sits once and not for each entry, is counted by itself.
"""

from __future__ import annotations

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import psutil
from PIL import Image

from tests.bench.report import Row, at_most, report, shown
from tests.bench.rivals import rivals

SIDE = 512
REQUESTS = 28_800
"""What other frameworks are asked, and what the goal in seconds is set for; a full entry's
judgements are more by now."""
GOAL_CPU, GOAL_SECONDS, GOAL_MEMORY, GOAL_GROWTH = 15.0, 4.5, 1.0, 1.1


def main() -> int:
    """Run a tenth of the bank in another process and the whole bank in this one, and print the
    table."""
    if "--tenth" in sys.argv:
        with _home() as settings:
            _declare_a_tenth()
            print(json.dumps(_measured(settings, "tenth").memory))
        return 0
    command = [sys.executable, "-m", "tests.bench.pipeline", "--tenth"]
    tenth = float(
        subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[
            -1
        ]
    )
    with _home() as settings:
        run = _measured(settings, "full")
    ours = max(run.door - run.decoding, 0.0) + run.evaluation
    parts = (
        f"door {run.door:.2f} s, decoding {run.decoding:.2f} s, evaluation {run.evaluation:.2f} s"
    )
    print(
        f"CPU: {parts}, bare loop {run.bare:.3f} s, plain loop {run.plain:.3f} s; beside it "
        f"Prefect's server {run.server:.2f} s and the judge's exam {run.exam:.2f} s"
    )
    print(f"Peak memory: {run.memory:.2f} GB, with a tenth of the items {tenth:.2f} GB")
    return report(
        "pipeline",
        [
            at_most(
                f"CPU beside decoding against a bare loop writing {run.rows} rows",
                ours / run.bare,
                GOAL_CPU,
            ),
            shown("the same with Prefect's temporary server", (ours + run.server) / run.bare),
            at_most(
                f"CPU seconds beside decoding, {run.judgements} judgements, second look too",
                ours,
                GOAL_SECONDS,
            ),
            at_most(
                f"the same for {REQUESTS} judgements, in proportion",
                ours * REQUESTS / run.judgements,
                GOAL_SECONDS,
            ),
            shown("all of it against a plain loop of INSERTs", ours / run.plain),
            *_against_rivals(ours / run.judgements),
            at_most("peak memory in GB", run.memory, GOAL_MEMORY),
            at_most("peak memory against a tenth of the items", run.memory / tenth, GOAL_GROWTH),
        ],
    )


def _against_rivals(ours: float) -> list[Row]:
    """Other frameworks with their dummy models, in this run of the bench; `ours` is for one
    judgement."""
    rows = []
    for rival in rivals(REQUESTS):
        if rival.seconds is None:
            print(f"{rival.name} could not be run: {rival.why_not}")
            continue
        rows.append(shown(f"CPU seconds of {rival.name}, {rival.requests} requests", rival.seconds))
        ratio = ours * rival.requests / rival.seconds
        rows.append(shown(f"ours in proportion against {rival.name}", ratio))
    return rows


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


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of some work: our own with the children that decode, and those of Prefect's
    server."""

    ours: float
    server: float


@contextmanager
def _home() -> Iterator[Any]:
    with tempfile.TemporaryDirectory(prefix="armillary-bench-") as folder:
        os.environ["ARMILLARY_HOME"] = folder
        from infra.settings import Settings

        yield Settings()


def _declare_a_tenth() -> None:
    """Every tenth task as a subset, in this process only."""
    from evaluators.suites import suite_named

    suite = suite_named("tailor")
    tasks = list(dict.fromkeys(sample.cluster for sample in suite.samples()))
    kept = frozenset(tasks[::10])
    assert isinstance(suite.subsets, dict)
    suite.subsets["tenth"] = lambda sample: sample.cluster in kept


def _measured(settings: Any, subset: str) -> Run:
    bundle = _bundle(settings.home / "bundle.zip", subset)
    _warm(settings)
    door, submission_id = _cpu(lambda: _receive(settings, bundle))
    decoding, _ = _cpu(lambda: _decode(bundle))
    database = settings.home / "armillary.db"
    before = _last_rows(database)
    copies = [_copy(database, settings.home / f"bare-{number}.db") for number in range(5)]
    evaluation, exam = _cpu(lambda: _evaluate(settings, submission_id))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    rows = _new_rows(database, before)
    bare = statistics.median(_cpu(lambda copy=copy: _bare(rows, copy))[0].ours for copy in copies)
    count, judgements = sum(map(len, rows.values())), rows["verdict"]
    plain, _ = _cpu(lambda: _plain(judgements, settings.home / "plain.db"))
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


def _cpu(work: Any) -> tuple[Cost, Any]:
    """What some work costs in this process and in its children, those that go on living too."""
    start = _spent()
    result = work()
    end = _spent()
    return Cost(end.ours - start.ours, end.server - start.server), result


def _spent() -> Cost:
    children = psutil.Process().children(recursive=True)
    server = [one for one in children if "uvicorn" in " ".join(one.cmdline())]
    apart = {one.pid for one in server}
    alive = sum(_cpu_of(one) for one in children if one.pid not in apart)
    return Cost(sum(os.times()[:4]) + alive, sum(map(_cpu_of, server)))


def _cpu_of(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def _bundle(to: Path, subset: str) -> Path:
    """One picture a sample, 512 px: smooth noise, so that it is neither trivial nor huge."""
    from evaluators.suites import suite_named
    from tests.bundles import declaration

    suite = suite_named("tailor")
    samples = [sample for sample in suite.samples() if suite.subsets[subset](sample)]
    files: list[dict[str, Any]] = []
    clips = [_clip(number) for number in range(4)]
    with zipfile.ZipFile(to, "w") as bundle:
        for number, sample in enumerate(samples):
            still = sample.facets.modality == "image"
            data = _picture(number) if still else clips[number % len(clips)]
            name = f"outputs/{sample.id}.{'png' if still else 'mp4'}"
            bundle.writestr(name, data)
            files.append(
                {"path": name, "sha256": hashlib.sha256(data).hexdigest(), "sample": sample.id}
            )
        manifest = {**declaration(subset=subset, modalities=["image", "video"]), "files": files}
        bundle.writestr("manifest.json", json.dumps(manifest))
    return to


def _picture(number: int) -> bytes:
    data = io.BytesIO()
    _smooth(number).save(data, "PNG", compress_level=1)
    return data.getvalue()


def _smooth(number: int) -> Image.Image:
    noise = np.random.default_rng(number).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((SIDE, SIDE), Image.Resampling.BILINEAR)


def _clip(number: int) -> bytes:
    from evaluators.media import write_mp4

    frames = np.stack([np.asarray(_smooth(4 * number + frame)) for frame in range(4)])
    with tempfile.TemporaryDirectory() as folder:
        return write_mp4(frames, Path(folder) / "clip.mp4", 8).read_bytes()


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
        cost, asked = _cpu(lambda: ensure_sitting(*work))
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

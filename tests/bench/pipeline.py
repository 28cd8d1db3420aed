"""What the pipeline costs beside decoding: the whole bank, an instant judge, against a bare loop of the same rows."""

from __future__ import annotations

import hashlib
import io
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.bench.report import at_most, report

SIDE = 512
GOAL_CPU, GOAL_MEMORY, GOAL_GROWTH = 15.0, 1.0, 1.1


def main() -> int:
    """Run the bank once and a tenth of it in another process, and print the table."""
    if "--tenth" in sys.argv:
        with _home() as settings:
            _declare_a_tenth()
            run = _measured(settings, "tenth")
            print(json.dumps(run.memory))
        return 0
    with _home() as settings:
        run = _measured(settings, "full")
        bare, rows = _cpu(lambda: _bare(settings.home / "armillary.db", settings.home / "bare.db"))
    command = [sys.executable, "-m", "tests.bench.pipeline", "--tenth"]
    tenth = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    ours = max(run.door - run.decoding, 0.0) + run.evaluation
    parts = f"door {run.door:.1f} s, decoding {run.decoding:.1f} s, evaluation {run.evaluation:.1f} s"
    print(f"CPU: {parts}, bare loop {bare:.2f} s")
    print(f"Peak memory: {run.memory:.2f} GB, with a tenth of the items {tenth:.2f} GB")
    return report(
        "pipeline",
        [
            at_most(f"CPU beside decoding against a bare loop writing {rows} rows", ours / bare, GOAL_CPU),
            at_most("peak memory in GB", run.memory, GOAL_MEMORY),
            at_most("peak memory against a tenth of the items", run.memory / tenth, GOAL_GROWTH),
        ],
    )


@dataclass(frozen=True, slots=True)
class Run:
    """CPU seconds of each part, and the most memory this process held, in GB."""

    door: float
    decoding: float
    evaluation: float
    memory: float


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
    evaluation, _ = _cpu(lambda: _evaluate(settings, submission_id))
    return Run(door, decoding, evaluation, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2)


def _cpu(work: Any) -> tuple[float, Any]:
    """CPU seconds of this process and of the children it has waited for."""
    start = os.times()
    result = work()
    end = os.times()
    return sum(end[:4]) - sum(start[:4]), result


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
            files.append({"path": name, "sha256": hashlib.sha256(data).hexdigest(), "sample": sample.id})
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
    from flows.catalogue import load
    from flows.engine import prepare
    from infra.db import migrate, session

    prepare(settings)
    migrate(settings.database)
    with session(settings.database) as db:
        load(db)
    import great_expectations  # noqa: F401
    from prefect import flow

    import flows.evaluate  # noqa: F401

    @flow(name="warm")
    def nothing() -> None:
        """Starts the server."""

    nothing()


def _receive(settings: Any, bundle: Path) -> str:
    from flows.door import receive

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


def _evaluate(settings: Any, submission_id: str) -> None:
    from flows.evaluate import run_here

    run_here(submission_id, settings)


def _bare(ours: Path, to: Path) -> int:
    """Copy the very rows, one plain insert each, in one transaction; reading them is not counted against the loop."""
    source, target = sqlite3.connect(ours), sqlite3.connect(to)
    total = 0
    for table in ("output", "reply", "verdict", "score", "cell"):
        rows = source.execute(f"SELECT * FROM {table}").fetchall()
        columns = ", ".join(column[1] for column in source.execute(f"PRAGMA table_info({table})"))
        marks = ", ".join("?" * (columns.count(",") + 1))
        target.execute(f"CREATE TABLE {table} ({columns})")
        for row in rows:
            target.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        total += len(rows)
    target.commit()
    return total


if __name__ == "__main__":
    sys.exit(main())

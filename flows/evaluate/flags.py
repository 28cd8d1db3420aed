"""What is worth a second look, as rows: the door's remarks about single outputs, and writing found
in pictures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flows.durable.progress import begin, reach
from flows.durable.shard_results import ShardResult, compute_once, inputs_sha256, pieces, records_of
from flows.evaluate.stages import shard_task
from flows.run.case import EvaluationCase, Stopped
from flows.run.tables_io import outputs_of
from flows.workers.executor import each_done
from flows.workers.work import WorkerPlace
from infra import tables
from infra.db import add_new, session
from infra.store import Store, fetch_blob
from infra.tables.findings import Flag

WRITING = "writing"
SHOWN = 500
MODALITIES = ("image", "video")


@dataclass(frozen=True, slots=True)
class WritingWork:
    """Read what is written in some outputs; `media` maps a sample to its file's hash."""

    media: dict[str, str]
    modality: dict[str, str]


def flag(case: EvaluationCase) -> None:
    """Keep the door's remarks, and look for writing if the settings want it. A flag changes no
    score."""
    known = {sample.id for sample in case.samples}
    remarks = [
        _row(case, warning["where"], warning["code"], warning["message"])
        for warning in case.report["warnings"]
        if warning["where"] in known
    ]
    with session(case.settings.database) as db:
        add_new(db, Flag, remarks)
    if case.settings.ocr:
        _look_for_writing(case)


def _row(case: EvaluationCase, sample_id: str, kind: str, text: str) -> dict[str, Any]:
    return {
        "submission_id": case.submission.id,
        "sample_id": sample_id,
        "kind": kind,
        "text": text[:SHOWN],
        "at": tables.now(),
    }


def _look_for_writing(case: EvaluationCase) -> None:
    _need_reader()
    works = list(_works(case))
    begin("reading", sum(len(work.media) for work in works))
    taken = 0
    for done in each_done(find_writing, works, case.place):
        rows = [
            _row(case, one["sample_id"], WRITING, one["text"])
            for one in records_of(case.store, done)
        ]
        with session(case.settings.database) as db:
            add_new(db, Flag, [row for row in rows if row["text"]])
        taken += done.items
        reach("reading", taken)


def _need_reader() -> None:
    from evaluators.judges.ocr import OcrMissing, need_reader

    try:
        need_reader()
    except OcrMissing as missing:
        raise Stopped("E_OCR", "ours", f"ARMILLARY_OCR is on. {missing}") from None


def _works(case: EvaluationCase) -> Iterator[WritingWork]:
    modality = {s.id: s.facets.modality for s in case.samples if s.facets.modality in MODALITIES}
    with session(case.settings.database) as db:
        rows = outputs_of(db, case.submission.id)
    shown = [name for name in modality if name in rows and rows[name].media_sha256]
    for piece in pieces(shown, case.settings.shard_size):
        yield WritingWork(
            {name: rows[name].media_sha256 for name in piece},
            {name: modality[name] for name in piece},
        )


def read_shard(work: WritingWork, place: WorkerPlace) -> ShardResult:
    """Read one shard of outputs."""
    store = place.open()
    return compute_once(
        store, WRITING, inputs_sha256(WRITING, asdict(work)), lambda: _written(work, place, store)
    )


find_writing = shard_task(read_shard)


def _written(work: WritingWork, place: WorkerPlace, store: Store) -> Iterator[Mapping[str, Any]]:
    from evaluators.judges.ocr import find_writing as find

    Path(place.work).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="writing-", dir=place.work) as folder:
        for name, sha256 in work.media.items():
            path = Path(folder) / sha256
            fetch_blob(store, sha256, path)
            found = find(path, work.modality[name])
            yield {"sample_id": name, "text": " / ".join(found.lines) if found.flagged else ""}

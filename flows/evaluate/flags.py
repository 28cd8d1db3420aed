"""What is worth a second look, as rows: the door's remarks about single outputs, and writing found
in pictures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluators.statistics.clues import CLUES, explained
from flows.durable.progress import start_progress
from flows.durable.shard_results import ShardResult, compute_once, inputs_sha256
from flows.evaluate.outputs import OutputRows, shard_task
from flows.run.case import EvaluationCase, Stopped
from flows.workers.executor import cut, run_shards
from flows.workers.specs import WorkerPlace
from infra import tables
from infra.db import add_new, session
from infra.store import Store, fetch_blob, open_store
from infra.tables.findings import WHOLE_ENTRY, Flag

WRITING = "writing"
SHOWN = 500
UNSEEING, FEWEST_ANSWERS = 0.95, 20
"""From which share on, and from how many answers on, answers are called explained by words."""
FOLLOWS_WORDS = "follows_words"
MODALITIES = ("image", "video")


@dataclass(frozen=True, slots=True)
class WritingWork:
    """Read what is written in some outputs; `media` maps a sample to its file's hash."""

    media: dict[str, str]
    modality: dict[str, str]


def flag(case: EvaluationCase, outputs: OutputRows) -> None:
    """Store the door's remarks, and look for writing if the settings ask for it. A flag changes no
    score."""
    sample_ids = {sample.id for sample in case.samples}
    remarks = [
        _row(case, warning["where"], warning["code"], warning["message"])
        for warning in case.report["warnings"]
        if warning["where"] in sample_ids
    ]
    with session(case.settings.database) as db:
        add_new(db, Flag, [*remarks, *_unseeing(case, outputs)])
    if case.settings.ocr:
        _look_for_writing(case, outputs)


def _unseeing(case: EvaluationCase, outputs: OutputRows) -> Iterator[dict[str, Any]]:
    """A remark about a whole entry whose answers follow from words alone, whatever a sample
    shows."""
    pairs = [
        (sample, place, str(outputs[sample.id].record.get("value")))
        for place, sample in enumerate(case.samples)
        if sample.facets.modality == "text" and sample.id in outputs
    ]
    if len(pairs) < FEWEST_ANSWERS:
        return
    answers = [answer for _, _, answer in pairs]
    for title, clue in CLUES.items():
        share = explained(answers, [clue(sample, place) for sample, place, _ in pairs])
        if share >= UNSEEING:
            text = f"{100 * share:.0f} % of its answers follow from the {title} alone."
            yield _row(case, WHOLE_ENTRY, FOLLOWS_WORDS, text)
            return


def _row(case: EvaluationCase, sample_id: str, kind: str, text: str) -> dict[str, Any]:
    return {
        "submission_id": case.submission.id,
        "sample_id": sample_id,
        "kind": kind,
        "text": text[:SHOWN],
        "at": tables.now(),
    }


def _look_for_writing(case: EvaluationCase, outputs: OutputRows) -> None:
    _need_reader()
    works = list(_works(case, outputs))
    start_progress("reading", sum(len(work.media) for work in works))
    shards = run_shards(find_writing, works, case.place, case.store, WRITING, "reading")
    for _, records in shards:
        rows = [_row(case, record["sample_id"], WRITING, record["text"]) for record in records]
        with session(case.settings.database) as db:
            add_new(db, Flag, [row for row in rows if row["text"]])


def _need_reader() -> None:
    from evaluators.judges.ocr import OcrMissing, need_reader

    try:
        need_reader()
    except OcrMissing as missing:
        raise Stopped("E_OCR", "ours", f"ARMILLARY_OCR is on. {missing}") from None


def _works(case: EvaluationCase, rows: OutputRows) -> Iterator[WritingWork]:
    modality = {s.id: s.facets.modality for s in case.samples if s.facets.modality in MODALITIES}
    visible = [name for name in modality if name in rows and rows[name].media_sha256]
    for piece in cut(visible, case.settings.shard_size):
        yield WritingWork(
            {name: rows[name].media_sha256 for name in piece},
            {name: modality[name] for name in piece},
        )


def read_shard(work: WritingWork, place: WorkerPlace) -> ShardResult:
    """Read one shard of outputs."""
    store = open_store(place.store, place.endpoint)
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
            writing = find(path, work.modality[name])
            yield {"sample_id": name, "text": " / ".join(writing.lines) if writing.flagged else ""}

"""Receipts: what an entry's numbers rest on, as canonical JSON (RFC 8785), and the records to recompute them from."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlmodel import Session, select

import evaluators
from evaluators.contracts import Answer, Sample, Suite
from flows.asked import all_asked, answers_to
from flows.board_keys import items_sha256
from flows.canonical import canonical
from flows.rows import noise_of, outputs_of, verdicts_of
from flows.seals import MEASURED
from infra import tables
from infra.db import put
from infra.tables_standing import Receipt

SCHEMA = 1


def keep(
    db: Session,
    suite: Suite,
    submission: tables.Submission,
    run: tables.Run,
    samples: Sequence[Sample],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the receipt of a run that is being published; `keys` are the hashes of what was asked, where known."""
    made = records(db, suite, run, samples, keys)
    text = canonical(_receipt(db, suite, submission, run, samples, made)).decode()
    row = {"run_id": run.id, "sha256": sha256(text.encode()), "text": text, "at": tables.now()}
    put(db, Receipt, [row])


def _receipt(
    db: Session,
    suite: Suite,
    submission: tables.Submission,
    run: tables.Run,
    samples: Sequence[Sample],
    made: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    judge = db.get_one(tables.Judge, run.judge)
    named = ("id", "team", "model", "organisation", "kind", "trust", "role", "subset")
    return {
        "schema": SCHEMA,
        "submission": {name: getattr(submission, name) for name in named},
        "run": run.id,
        "board": run.board,
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "scorer_version": suite.scorer_version,
            "items_sha256": items_sha256(suite),
        },
        "inputs": {
            "bundle_sha256": submission.bundle_sha256,
            "contents_sha256": submission.contents_sha256,
            "manifest_sha256": sha256(canonical(submission.manifest)),
            "modalities": sorted({sample.facets.modality for sample in samples}),
            "replaced": _replaced(suite, submission.subset, samples),
        },
        "outputs": {"count": len(samples), "records_sha256": sha256(lines(made))},
        "judge": {
            "fingerprint": judge.fingerprint,
            "card": {name: value for name, value in judge.card.items() if name not in MEASURED},
        },
        "numbers": {
            "cells_sha256": sha256(lines(cells(db, run.id))),
            "n_scored": run.n_scored,
            "n_expected": run.n_expected,
        },
        "noise": noise_of(db, run.id),
        "code": {"evaluators_sha256": code_sha256(), "release": release()},
        "environment": environment(),
    }


def samples_of(suite: Suite, subset: str, modalities: Sequence[str], replaced: Mapping[str, str]) -> tuple[Sample, ...]:
    """The samples a submission of this subset and these modalities answers, in their order."""
    known = {sample.id: sample for sample in suite.samples()}
    asked = (s for s in known.values() if suite.subsets[subset](s) and s.facets.modality in modalities)
    return tuple(known[replaced.get(sample.id, sample.id)] for sample in asked)


def _replaced(suite: Suite, subset: str, samples: Sequence[Sample]) -> dict[str, str]:
    """Which samples stand in the place of which: a prompt that a filter blocked may have been drawn anew."""
    asked = samples_of(suite, subset, sorted({sample.facets.modality for sample in samples}), {})
    return {one.id: other.id for one, other in zip(asked, samples, strict=True) if one.id != other.id}


def records(
    db: Session,
    suite: Suite,
    run: tables.Run,
    samples: Sequence[Sample],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """One record a sample: what was handed in for it and what the judge answered, enough to score it again."""
    rows = outputs_of(db, run.submission_id)
    asked = all_asked(suite, samples, rows, keys)
    answered = verdicts_of(db, run.judge, [one.media_sha256 for every in asked.values() for one in every])
    return [_record(sample, rows.get(sample.id), answers_to(asked[sample.id], answered)) for sample in samples]


def _record(sample: Sample, row: tables.Output | None, given: Mapping[str, Answer]) -> dict[str, Any]:
    if row is None:
        return {"sample": sample.id, "outcome": "output_missing", "media_sha256": "", "record": {}, "answers": {}}
    answers = {name: [str(answer.outcome), answer.value] for name, answer in given.items()}
    kept = {"outcome": row.outcome, "media_sha256": row.media_sha256, "record": row.record}
    return {"sample": sample.id, **kept, "answers": answers}


def cells(db: Session, run_id: str) -> list[dict[str, Any]]:
    """A run's cells as they are published, in the order of their addresses."""
    table = tables.Cell
    order = (table.metric, table.scenario, table.task, table.setting, table.modality)
    found = db.exec(select(table).where(table.run_id == run_id))
    rows = [row.model_dump(exclude={"run_id", "source", "note", "spread"}) for row in found]
    return sorted(rows, key=lambda row: [row[column.key] for column in order])  # type: ignore[attr-defined]


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Canonical JSON, one object a line."""
    return b"".join(canonical(dict(row)) + b"\n" for row in rows)


def sha256(data: bytes) -> str:
    """The hash in hex."""
    return hashlib.sha256(data).hexdigest()


@cache
def code_sha256() -> str:
    """The hash of all code and data that numbers are computed with."""
    folder = Path(evaluators.__file__).parent
    digest = hashlib.sha256()
    for path in _sources(folder):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    kinds = {".py", ".jsonl", ".json", ".csv", ".txt", ".md"}
    yield from sorted(path for path in folder.rglob("*") if path.suffix in kinds and "__pycache__" not in path.parts)


def release() -> str:
    """The installed release."""
    try:
        return metadata.version("armillary")
    except metadata.PackageNotFoundError:
        return ""


def environment() -> dict[str, str]:
    """What a number could depend on beside the code."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
    }

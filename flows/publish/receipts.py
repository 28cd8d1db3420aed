"""Receipts: what an entry's numbers rest on, as canonical JSON (RFC 8785), and the records to
recompute them from."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlalchemy import select as sa_select
from sqlmodel import Session

from evaluators.contracts import Answer, Sample, Suite
from flows.publish.canonical import canonical
from flows.publish.seal_chain import MEASURED
from flows.run.answers import answered
from flows.run.board_keys import items_sha256
from flows.run.scoring_code import code_sha256
from flows.run.tables_io import noise_of
from infra import tables
from infra.db import columns_of, put
from infra.tables.standing import Receipt

SCHEMA = 1
ADDRESS = ("metric", "scenario", "task", "setting", "modality")
UNPUBLISHED = ("run_id", "source", "note", "spread")


def keep(
    db: Session,
    suite: Suite,
    submission: tables.Submission,
    run: tables.Run,
    samples: Sequence[Sample],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the receipt of a run that is being published; `keys` are the hashes of what was asked,
    where known."""
    made = _lines_sha256(records(db, suite, run, samples, keys))
    text = canonical(_receipt(db, suite, submission, run, samples, made)).decode()
    row = {"run_id": run.id, "sha256": sha256(text.encode()), "text": text, "at": tables.now()}
    put(db, Receipt, [row])


def _receipt(
    db: Session,
    suite: Suite,
    submission: tables.Submission,
    run: tables.Run,
    samples: Sequence[Sample],
    records_sha256: str,
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
        "outputs": {"count": len(samples), "records_sha256": records_sha256},
        "judge": {
            "fingerprint": judge.fingerprint,
            "card": {name: value for name, value in judge.card.items() if name not in MEASURED},
        },
        "numbers": {
            "cells_sha256": _lines_sha256(cells(db, run.id)),
            "n_scored": run.n_scored,
            "n_expected": run.n_expected,
        },
        "noise": noise_of(db, run.id),
        "code": {"evaluators_sha256": code_sha256(suite.name), "release": release()},
        "environment": environment(),
    }


def samples_of(
    suite: Suite, subset: str, modalities: Sequence[str], replaced: Mapping[str, str]
) -> tuple[Sample, ...]:
    """The samples a submission of this subset and these modalities answers, in their order."""
    known = {sample.id: sample for sample in suite.samples()}
    asked = (
        s for s in known.values() if suite.subsets[subset](s) and s.facets.modality in modalities
    )
    return tuple(known[replaced.get(sample.id, sample.id)] for sample in asked)


def _replaced(suite: Suite, subset: str, samples: Sequence[Sample]) -> dict[str, str]:
    """Which samples stand in the place of which: a prompt that a filter blocked may have been drawn
    anew."""
    asked = samples_of(suite, subset, sorted({sample.facets.modality for sample in samples}), {})
    return {
        one.id: other.id for one, other in zip(asked, samples, strict=True) if one.id != other.id
    }


def records(
    db: Session,
    suite: Suite,
    run: tables.Run,
    samples: Sequence[Sample],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[dict[str, Any]]:
    """One record a sample: what was handed in for it and what the judge answered, enough to score
    it again."""
    for one in answered(db, suite, run, samples, keys):
        yield _record(one.sample, one.row, one.answers)


def _record(
    sample: Sample, row: tables.Output | None, given: Mapping[str, Answer]
) -> dict[str, Any]:
    if row is None:
        return {
            "sample": sample.id,
            "outcome": "output_missing",
            "media_sha256": "",
            "record": {},
            "answers": {},
        }
    answers = {name: [str(answer.outcome), answer.value] for name, answer in given.items()}
    kept = {"outcome": row.outcome, "media_sha256": row.media_sha256, "record": row.record}
    return {"sample": sample.id, **kept, "answers": answers}


def cells(db: Session, run_id: str) -> list[dict[str, Any]]:
    """A run's cells as they are published, in the order of their addresses."""
    table = columns_of(tables.Cell)
    kept = [column for column in table if column.name not in UNPUBLISHED]
    names = [column.name for column in kept]
    found = db.execute(sa_select(*kept).where(table.run_id == run_id))
    return sorted((dict(zip(names, row, strict=True)) for row in found), key=itemgetter(*ADDRESS))


def lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Canonical JSON, one object a line."""
    return b"".join(_lines(rows))


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    return (canonical(row) + b"\n" for row in rows)


def _lines_sha256(rows: Iterable[Mapping[str, Any]]) -> str:
    digest = hashlib.sha256()
    for line in _lines(rows):
        digest.update(line)
    return digest.hexdigest()


def sha256(data: bytes) -> str:
    """The hash in hex."""
    return hashlib.sha256(data).hexdigest()


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

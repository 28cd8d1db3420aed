"""Receipts: what an entry's numbers rest on, as canonical JSON (RFC 8785), and the records to
recompute them from."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlalchemy import select as sa_select
from sqlmodel import Session

from evaluators.contracts import Sample, Suite
from flows.publish.canonical import canonical
from flows.publish.seal_chain import MEASURED
from flows.run.answers import AnsweredSample
from flows.run.board_keys import ScoringVersion
from infra import tables
from infra.db import columns_of, put
from infra.release import release
from infra.tables.standing import Receipt

SCHEMA = 1
ADDRESS = ("metric", "scenario", "task", "setting", "modality")
UNPUBLISHED = ("run_id", "source", "note", "spread")


def keep(
    db: Session,
    suite: Suite,
    submission: tables.Submission,
    run: tables.Run,
    answered: Sequence[AnsweredSample],
    noise: Mapping[str, float],
    version: ScoringVersion,
    replaced: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the receipt of a run that is being published.

    `answered` are its samples with what their scores were computed from; `replaced` says which
    sample stands in the place of one that a filter blocked.
    """
    outputs = {
        "count": len(answered),
        "records_sha256": _lines_sha256(map(record_of, answered)),
    }
    inputs = {
        **_inputs(submission),
        "modalities": sorted({entry.sample.facets.modality for entry in answered}),
        "replaced": dict(replaced),
    }
    receipt = _receipt(db, suite, submission, run, version)
    text = canonical(
        {**receipt, "inputs": inputs, "outputs": outputs, "noise": dict(noise)}
    ).decode()
    row = {"run_id": run.id, "sha256": sha256(text.encode()), "text": text, "at": tables.now()}
    put(db, Receipt, [row])


def _receipt(
    db: Session,
    suite: Suite,
    submission: tables.Submission,
    run: tables.Run,
    version: ScoringVersion,
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
            "items_sha256": version.items_sha256,
        },
        "judge": {
            "fingerprint": judge.fingerprint,
            "card": {name: value for name, value in judge.card.items() if name not in MEASURED},
        },
        "numbers": {
            "cells_sha256": _lines_sha256(cells(db, run.id)),
            "n_scored": run.n_scored,
            "n_expected": run.n_expected,
        },
        "code": {"evaluators_sha256": version.code_sha256, "release": release()},
        "environment": environment(),
    }


def _inputs(submission: tables.Submission) -> dict[str, str]:
    return {
        "bundle_sha256": submission.bundle_sha256,
        "contents_sha256": submission.contents_sha256,
        "manifest_sha256": sha256(canonical(submission.manifest)),
    }


def samples_of(
    suite: Suite, subset: str, modalities: Sequence[str], replaced: Mapping[str, str]
) -> tuple[Sample, ...]:
    """The samples a submission of this subset and these modalities answers, in their order."""
    in_subset, bank = suite.subsets[subset], {sample.id: sample for sample in suite.samples()}
    return tuple(
        bank[replaced.get(sample.id, sample.id)]
        for sample in bank.values()
        if in_subset(sample) and sample.facets.modality in modalities
    )


def record_of(entry: AnsweredSample) -> dict[str, Any]:
    """What was handed in for one sample and what the judge answered, enough to score it again."""
    if entry.row is None:
        return {
            "sample": entry.sample.id,
            "outcome": "output_missing",
            "media_sha256": "",
            "record": {},
            "answers": {},
        }
    return {
        "sample": entry.sample.id,
        "outcome": entry.row.outcome,
        "media_sha256": entry.row.media_sha256,
        "record": entry.row.record,
        "answers": {
            question_id: [str(answer.outcome), answer.value]
            for question_id, answer in entry.answers.items()
        },
    }


def cells(db: Session, run_id: str) -> list[dict[str, Any]]:
    """A run's cells as they are published, in the order of their addresses."""
    table = columns_of(tables.Cell)
    published = [column for column in table if column.name not in UNPUBLISHED]
    names = [column.name for column in published]
    rows = db.execute(sa_select(*published).where(table.run_id == run_id))
    return sorted((dict(zip(names, row, strict=True)) for row in rows), key=itemgetter(*ADDRESS))


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


def environment() -> dict[str, str]:
    """What a number could depend on beside the code."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
    }

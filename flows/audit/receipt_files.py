"""Receipts as files beside an export, and checking one on a machine that has nothing but those
files and this code."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import rfc8785
from sqlmodel import Session, select

from evaluators.aggregate.cells import bounds
from evaluators.aggregate.columns import scored_metrics, tabulate
from evaluators.contracts import Answer, Outcome, Output, Sample, Score, Suite
from evaluators.suites import suite_named, suite_names
from flows.publish.receipts import ADDRESS, cells, lines, record_of, samples_of, sha256
from flows.run.answers import load_answers
from flows.run.board_keys import items_sha256
from flows.run.score_rows import cell_row
from flows.run.scoring_code import code_sha256
from infra import tables
from infra.store import landing
from infra.tables.standing import Receipt

FOLDER = "receipts"
NEEDED = (
    "suite.name",
    "suite.items_sha256",
    "submission.subset",
    "inputs.modalities",
    "inputs.replaced",
    "outputs.records_sha256",
    "numbers.cells_sha256",
    "noise",
    "code.evaluators_sha256",
    "code.release",
)
"""What a receipt has to say for its numbers to be computed again."""


class NoReceipt(Exception):
    """The file is no receipt, or what belongs to it is not there; the message says which."""


@dataclass(frozen=True, slots=True)
class ReceiptCheck:
    """What was recomputed from a receipt's files, the differences, and notes."""

    run: str
    scores: int
    cells: int
    differences: tuple[str, ...]
    notes: tuple[str, ...]


def write(db: Session, folder: Path) -> int:
    """Write every published entry's receipt, its records and its cells; return how many."""
    receipts = db.execute(select(Receipt.run_id, Receipt.text).order_by(Receipt.run_id)).all()
    for run_id, text in receipts:
        run = db.get_one(tables.Run, run_id)
        suite = suite_named(run.suite)
        samples = _samples(suite, json.loads(text))
        _put(folder / FOLDER / f"{run_id}.json", text.encode())
        data = lines(map(record_of, load_answers(db, suite, run, samples)))
        _put(folder / FOLDER / f"{run_id}.records.jsonl.gz", gzip.compress(data, mtime=0))
        _put(folder / FOLDER / f"{run_id}.cells.jsonl", lines(cells(db, run_id)))
    return len(receipts)


def check(path: Path) -> ReceiptCheck:
    """Recompute a receipt's numbers from the files beside it: no database, no store, no network."""
    receipt = _receipt(path)
    suite = suite_named(receipt["suite"]["name"])
    data, stored = _beside(path, ".records.jsonl.gz"), _beside(path, ".cells.jsonl")
    differences = [
        f"{subject}: {computed[:16]}… found, {receipted[:16]}… on the receipt"
        for subject, computed, receipted in (
            ("records", sha256(data), receipt["outputs"]["records_sha256"]),
            ("cells", sha256(stored), receipt["numbers"]["cells_sha256"]),
            ("the suite's items", items_sha256(suite), receipt["suite"]["items_sha256"]),
        )
        if computed != receipted
    ]
    samples = _samples(suite, receipt)
    scores = score(suite, samples, _rows(path, "records", data))
    fresh_cells = recomputed(suite, samples, scores, receipt["noise"])
    differences += _compare(_rows(path, "cells", stored), fresh_cells)
    return ReceiptCheck(
        receipt["run"], len(scores), len(fresh_cells), tuple(differences), _notes(receipt)
    )


def score(
    suite: Suite, samples: Sequence[Sample], records: Sequence[Mapping[str, Any]]
) -> list[Score]:
    """Score every sample again from its record."""
    assert suite.scoring is not None
    records_by_sample = {record["sample"]: record for record in records}
    scores: list[Score] = []
    for sample in samples:
        record = records_by_sample.get(
            sample.id, {"outcome": "output_missing", "record": {}, "answers": {}}
        )
        output = Output(sample.id, Outcome(record["outcome"]), record=record["record"])
        answers = {
            name: Answer(name, Outcome(outcome), value)
            for name, (outcome, value) in record["answers"].items()
        }
        scores += suite.scoring.score(sample, output, answers)
    return scores


def recomputed(
    suite: Suite, samples: Sequence[Sample], scores: Sequence[Score], noise: Mapping[str, float]
) -> list[dict[str, Any]]:
    """The cells that these scores make, as they would be published."""
    within = () if suite.tabulate else bounds(scored_metrics(suite, scores), samples, scores)
    bounds_by_cell = {(bound.metric, bound.facets): bound for bound in within}
    fresh = tabulate(suite, samples, scores, noise)
    rows = [cell_row("", cell, bounds_by_cell.get((cell.metric, cell.facets))) for cell in fresh]
    return [
        {name: value for name, value in row.items() if name not in ("run_id", "source", "note")}
        for row in rows
    ]


def _compare(stored: Sequence[Mapping[str, Any]], fresh: Sequence[Mapping[str, Any]]) -> list[str]:
    before, after = (
        {tuple(row[name] for name in ADDRESS): row for row in rows} for rows in (stored, fresh)
    )
    return [
        f"cell {' '.join(key)}: {_shown(before.get(key))} in the export, {_shown(after.get(key))} "
        "recomputed"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def _shown(row: Mapping[str, Any] | None) -> str:
    return "nothing" if row is None else f"{row['value']} [{row['low']}, {row['high']}]"


def _notes(receipt: Mapping[str, Any]) -> tuple[str, ...]:
    if receipt["code"]["evaluators_sha256"] == code_sha256(receipt["suite"]["name"]):
        return ()
    release = receipt["code"]["release"] or "an unnamed release"
    return (
        f"The receipt was written by other code ({release}); a difference may come from there.",
    )


def _samples(suite: Suite, receipt: Mapping[str, Any]) -> tuple[Sample, ...]:
    inputs = receipt["inputs"]
    return samples_of(
        suite, receipt["submission"]["subset"], inputs["modalities"], inputs["replaced"]
    )


def _receipt(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    try:
        receipt: dict[str, Any] = json.loads(data)
        canonical = rfc8785.dumps(receipt)
        for name in NEEDED:
            reduce(getitem, name.split("."), receipt)
        if (
            receipt["schema"] != 1
            or not receipt["run"]
            or receipt["suite"]["name"] not in suite_names()
        ):
            raise KeyError
    except (ValueError, KeyError, TypeError, rfc8785.CanonicalizationError):
        raise NoReceipt(
            f"{path} is no receipt. Give a file from an export's receipts folder."
        ) from None
    if canonical != data:
        raise NoReceipt(f"{path} is not canonical JSON any more. Take it from the export again.")
    return receipt


def _rows(path: Path, content: str, data: bytes) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(line) for line in data.splitlines()]
    except ValueError:
        raise NoReceipt(
            f"The {content} beside {path} are not JSON lines. Take them from the export again."
        ) from None
    if not all(isinstance(row, dict) for row in rows):
        raise NoReceipt(
            f"The {content} beside {path} are no objects. Take them from the export again."
        )
    return rows


def _beside(path: Path, suffix: str) -> bytes:
    neighbour = path.with_name(path.name.removesuffix(".json") + suffix)
    if not neighbour.is_file():
        raise NoReceipt(
            f"{neighbour.name} is missing beside {path.name}. Copy the whole receipts folder of "
            "the export."
        )
    try:
        return (
            gzip.decompress(neighbour.read_bytes())
            if suffix.endswith(".gz")
            else neighbour.read_bytes()
        )
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise NoReceipt(
            f"{neighbour} is cut off or damaged. Take it from the export again."
        ) from None


def _put(path: Path, data: bytes) -> None:
    with landing(path) as file:
        file.write(data)

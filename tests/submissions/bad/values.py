"""Rows 95 to 97: outputs that are no media, of a made-up suite whose rows the tests add to the
catalogue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sqlmodel import Session

from infra.db import put
from infra.tables import Sample, Suite

from .case import Case, bundle

ITEMS = {"letter": "text", "words": "text", "moves": "actions", "trial": "outcome"}
OPTIONS = {"letter": ["A", "B", "C", "D"]}


def add_suite(db: Session) -> None:
    """The made-up suite, as rows."""
    row = Suite(
        name="made", position=9, version="1.0", scorer_version="1", items_sha256="", title="Made",
        subsets={"full": len(ITEMS)}, accepts=["outputs"], facts=[],
    )  # fmt: skip
    put(db, Suite, [row.model_dump()])
    put(db, Sample, [_sample(number, name).model_dump() for number, name in enumerate(ITEMS)])


def _sample(number: int, name: str) -> Sample:
    question = {
        "id": "q",
        "text": "Which?",
        "kind": "choice",
        "options": OPTIONS.get(name, []),
        "low": 0.0,
        "high": 1.0,
    }
    return Sample(
        suite="made",
        version="1.0",
        id=name,
        position=number,
        scenario="s",
        task="t",
        setting="u",
        modality=ITEMS[name],
        cluster="c",
        request_sha256="",
        questions=[question],
        subsets=["full"],
    )


def answer(row: int, what: str, code: str, item: str, data: bytes | Any) -> Case:
    """A bundle with one value of the made-up suite."""
    ending = "txt" if ITEMS[item] == "text" else "json"
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()

    def make(to: Path) -> Path:
        files: dict[str, tuple[str | None, bytes]] = {f"outputs/{item}.{ending}": (item, raw)}
        kinds = ["text", "actions", "outcome"]
        return bundle(to, files, suite="made", suite_version="1.0", subset="full", modalities=kinds)

    return Case(row, what, code, make)


CASES = [
    answer(0, "a letter", "", "letter", b"B\n"),
    answer(0, "words", "", "words", b"The red cup stays on the table."),
    answer(0, "actions", "", "moves", {"actions": [[0.5, 1], [0, -1]]}),
    answer(0, "an outcome", "", "trial", {"outcome": 1, "score": 0.5}),
    answer(95, "NaN", "E_ACTIONS", "moves", b'{"actions": [[NaN, 1]]}'),
    answer(95, "rows of other widths", "E_ACTIONS", "moves", {"actions": [[1, 2], [1]]}),
    answer(95, "no rows", "E_ACTIONS", "moves", {"actions": []}),
    answer(95, "strings", "E_ACTIONS", "moves", {"actions": [["1", 2]]}),
    answer(95, "not an object", "E_ACTIONS", "moves", [[1, 2]]),
    answer(96, "outcome 2", "E_VALUE_RANGE", "trial", {"outcome": 2}),
    answer(96, "outcome true", "E_VALUE_RANGE", "trial", {"outcome": True}),
    answer(96, "score 90", "E_VALUE_RANGE", "trial", {"outcome": 1, "score": 90}),
    answer(96, "score as text", "E_VALUE_RANGE", "trial", {"outcome": 1, "score": "1"}),
    answer(97, "empty answer", "E_ANSWER", "words", b" \n"),
    answer(97, "1 MB", "E_ANSWER", "words", bytes(range(97, 123)) * 40_000),
    answer(97, "not text", "E_ANSWER", "words", b"\xff\xfe\x00\x01"),
    answer(97, "letter E", "E_ANSWER", "letter", b"E"),
]

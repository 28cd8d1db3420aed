"""Copies what is to be read word for word (judges' prompts, the changelog) into rows for the
Methods page."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlalchemy import delete
from sqlmodel import Session

from evaluators.judges.exam.exam import Exam
from evaluators.suites import all_suites
from infra.db import add_new
from infra.tables.board import Passage


def load(db: Session) -> None:
    """Bring the passages in step with the files; running it again changes nothing."""
    db.connection().execute(delete(Passage))
    add_new(db, Passage, list(_passages()))


def _passages() -> Iterator[dict[str, Any]]:
    evaluators = Path(str(files("evaluators")))
    for file in sorted((evaluators / "judges" / "templates").glob("*.txt")):
        yield _row("judge", "", file)
    for suite in all_suites():
        for file in sorted((evaluators / "suites" / suite.name / "prompts").glob("*.txt")):
            yield _row("suite", suite.name, file)
        if suite.exam and suite.own_judge is None:
            yield _text("exam", suite.name, "exam of judges", exam_rule(suite.exam))
    changelog = evaluators.parent / "CHANGELOG.md"
    if changelog.is_file():
        yield _row("changelog", "", changelog)


def exam_rule(exam: Exam) -> str:
    """What a judge has to reach before it may rank, in words."""
    bounds, items = exam.bounds, exam.items()
    questions = sum(len(item.questions) for item in items)
    pairs = len({item.twin for item in items if item.twin})
    ordered = (
        f" Of {pairs} pairs of a sound and a spoiled version the lower end of the share that it "
        f"rates in the right order is at least {bounds.order:g}."
        if pairs
        else ""
    )
    rows = (
        f" And some entry of the board is surely above each of these rows: "
        f"{', '.join(exam.must_lose)}."
        if exam.must_lose
        else ""
    )
    return (
        f"Exam {exam.version}: {questions} questions about {len(items)} pictures and clips whose "
        "content is known. A judge sits it before its first board is ranked and again each night; "
        "the newest sitting counts. It sees if at least "
        f"{bounds.answer_rate:.0%} of its answers are on the menu, the lower end of Cohen's kappa "
        f"with the right answers is at least {bounds.kappa:g}, and its share of favourable answers "
        f"is surely within {bounds.yes_bias:g} of the right share.{ordered}{rows} A board whose "
        "judge is blind or not examined has no ranks."
    )


def _row(kind: str, suite: str, file: Path) -> dict[str, Any]:
    return _text(kind, suite, file.stem, file.read_text("utf-8"))


def _text(kind: str, suite: str, name: str, text: str) -> dict[str, Any]:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return {"kind": kind, "suite": suite, "name": name, "sha256": sha256, "text": text}

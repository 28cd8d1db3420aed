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
    changelog = evaluators.parent / "CHANGELOG.md"
    if changelog.is_file():
        yield _row("changelog", "", changelog)


def _row(kind: str, suite: str, file: Path) -> dict[str, Any]:
    text = file.read_text("utf-8")
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return {"kind": kind, "suite": suite, "name": file.stem, "sha256": sha256, "text": text}

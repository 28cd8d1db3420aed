"""What a run's numbers were computed with: when this differs from today's, they are stale."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

from sqlmodel import Session

import evaluators
from evaluators.contracts import Suite
from flows.board_keys import items_sha256
from flows.case import Case
from infra.db import put
from infra.tables import now
from infra.tables_operations import RunMark

SHARED = ("cells.py", "contracts.py", "metrics")
"""Beside a suite's own folder, the code that can move its scores."""


@cache
def code_sha256(suite: str) -> str:
    """The hash of all code that can move a suite's scores; comments, words about it and its layout do not count."""
    root = Path(next(iter(evaluators.__path__)))
    places = [root / name for name in SHARED] + [root / "suites" / suite]
    files = sorted(file for place in places for file in ([place] if place.is_file() else place.rglob("*.py")))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(root)} {meaning(file.read_text('utf-8'))}\n".encode())
    return digest.hexdigest()


def meaning(source: str) -> str:
    """A module without its comments, docstrings and layout.

    >>> meaning("def f():\\n    'Says.'\\n    return 1  # one") == meaning("def f(): return 1")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_words(part)]
    return ast.dump(tree)


def _is_words(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def put_mark(db: Session, case: Case) -> None:
    """Note what a run's numbers were computed with."""
    mark = RunMark(
        run_id=case.run.id,
        judge_setting=case.settings.judge,
        items_sha256=items_sha256(case.suite),
        code_sha256=code_sha256(case.suite.name),
        at=now(),
    )
    put(db, RunMark, [mark.model_dump()])


def is_current(mark: RunMark | None, suite: Suite) -> bool:
    """Say whether the code that made these numbers is today's."""
    return mark is not None and mark.code_sha256 == code_sha256(suite.name)

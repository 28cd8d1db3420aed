"""Files, modules and functions that a document names are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests.command import ROOT

PACKAGES = ("flows", "evaluators", "leaderboard", "submissions", "infra")
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.md"))),
]
_PACKAGE = "|".join(PACKAGES)
PATH = re.compile(rf"(?<![\w/.:<-])((?:{_PACKAGE}|tests)/[\w./*-]*[\w/*])(?![\w<])")
DOTTED = re.compile(rf"(?<![\w/.-])((?:{_PACKAGE})(?:\.[A-Za-z_]\w*)+)")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
MODULE_FILE = re.compile(r"`([a-z]\w*\.py)`")
OUTSIDE = frozenset(("panel.py",))
"""What only a suite outside of the tree has."""
CALL = re.compile(r"`([a-z]\w+)\(\)`")


def tree_path(path: Path) -> str:
    """A path as the tree has it."""
    return str(path.relative_to(ROOT))


def missing(document: Path) -> Iterator[str]:
    """What a document names and the tree has not."""
    text = document.read_text("utf-8")
    yield from (path for path in PATH.findall(text) if not any(ROOT.glob(path.rstrip("/"))))
    yield from (link for link in LINK.findall(text) if not (document.parent / link).exists())
    yield from (name for name in DOTTED.findall(text) if not _resolves(name))
    yield from (name for name in MODULE_FILE.findall(text) if name not in _module_files() | OUTSIDE)
    yield from (f"{name}()" for name in CALL.findall(text) if name not in _functions())


def _resolves(dotted: str) -> bool:
    """Whether it is a module, or a name inside of one."""
    module, _, name = dotted.rpartition(".")
    try:
        import_module(dotted)
    except ModuleNotFoundError:
        return bool(module) and hasattr(import_module(module), name)
    return True


@cache
def _module_files() -> frozenset[str]:
    roots = (*PACKAGES, "tests")
    return frozenset(path.name for root in roots for path in (ROOT / root).rglob("*.py"))


@cache
def _functions() -> frozenset[str]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return frozenset(
        node.name
        for path in paths
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=tree_path)
def test_a_document_names_only_what_is_there(document: Path) -> None:
    assert list(missing(document)) == []


def test_a_document_that_names_what_is_gone_is_noticed(tmp_path: Path) -> None:
    document = tmp_path / "README.md"
    document.write_text(
        "Edit `infra/gone.py`, not infra/settings.py, `flows/gone_*.py` or `flows/cli/app.py`; "
        "`flows.cli.app.gone`, `infra.settings.Settings`, `gone.py`, `gone()`, [here](GONE.md).",
        "utf-8",
    )

    assert list(missing(document)) == [
        "infra/gone.py",
        "flows/gone_*.py",
        "GONE.md",
        "flows.cli.app.gone",
        "gone.py",
        "gone()",
    ]

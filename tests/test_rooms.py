"""What makes the tree readable from its listing, counted: folders, names, lines, the help."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.app import app
from tests.command import ROOT

PACKAGES = ("flows", "evaluators", "leaderboard", "submissions", "infra")
MOST_MODULES = 12
MOST_MODULES_OF_A_SUITE = 15
MOST_VAGUE = 0.02
MOST_COLUMNS = 100
MOST_LINES_OF_HELP = 45
MOST_LINES_OF_README = 120
VAGUE_WORDS = (
    "one other some found said made kept known there shown told given asked taken wanted seen gone "
    "done here these those every each thing things what it them this that all any rest more most "
    "few many much"
)
"""Names of variables and parameters that do not say what they hold."""
VAGUE = frozenset(VAGUE_WORDS.split())
CONTRACT_AND_ROW = frozenset(
    ("Cell", "Judge", "Metric", "Output", "Reply", "Sample", "Score", "Suite", "Summary")
)
"""The same idea as a value of evaluators and as a row of infra, which may not import each other."""
PRAGMA = re.compile(r"\s+# (noqa|type: ignore)\b.*$")


def modules(package: str) -> list[Path]:
    """A package's modules; migrations are frozen history."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return [path for path in paths if "migrations" not in path.parts]


def folders(package: str) -> list[Path]:
    """A package's folders that hold modules."""
    return sorted({path.parent for path in modules(package)})


FOLDERS = [folder for package in PACKAGES for folder in folders(package)]


def tree_path(path: Path) -> str:
    """A path as the tree has it."""
    return str(path.relative_to(ROOT))


def bindings(tree: ast.AST) -> Iterator[str]:
    """Every name that is assigned, looped over or taken as a parameter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            yield node.arg


@pytest.mark.parametrize("folder", FOLDERS, ids=tree_path)
def test_a_folder_can_be_taken_in_at_a_glance(folder: Path) -> None:
    names = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    suites = ROOT / "evaluators" / "suites"
    suite = folder.parent == suites or (
        folder.parent.parent.parent == suites and folder.parent.name == "boards"
    )

    assert len(names) <= (MOST_MODULES_OF_A_SUITE if suite else MOST_MODULES), names


@pytest.mark.parametrize("folder", FOLDERS, ids=tree_path)
def test_a_folder_opens_with_a_sentence_about_itself(folder: Path) -> None:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
    sentence = re.match(r"[^.]*\w[^.]*[.?!)]", docstring or "")

    assert sentence and len(sentence[0].split()) >= 3, (
        f"{tree_path(folder)}/__init__.py: {docstring!r}"
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_variables_say_what_they_hold(package: str) -> None:
    vague: Counter[str] = Counter()
    count = 0
    for path in modules(package):
        for name in bindings(ast.parse(path.read_text("utf-8"))):
            count += 1
            vague[f"{name} in {tree_path(path)}"] += name.strip("_") in VAGUE

    assert count > 1000
    assert vague.total() < MOST_VAGUE * count, vague.most_common(10)


def test_a_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in (path for package in PACKAGES for path in modules(package)):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(tree_path(path))
    repeated = {name: paths for name, paths in places.items() if len(paths) > 1}

    assert {name: repeated[name] for name in repeated.keys() - CONTRACT_AND_ROW} == {}
    assert CONTRACT_AND_ROW - repeated.keys() == set(), "Declared, and there is only one of it."
    for name in CONTRACT_AND_ROW:
        assert sorted(path.split("/")[0] for path in repeated[name]) == ["evaluators", "infra"]


@pytest.mark.parametrize("package", [*PACKAGES, "tests"])
def test_no_line_of_code_is_past_a_hundred_columns(package: str) -> None:
    long_lines = [
        f"{tree_path(path)}:{number}"
        for path in modules(package)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(PRAGMA.sub("", line)) > MOST_COLUMNS
    ]

    assert long_lines == []


def test_the_help_fits_on_one_screen() -> None:
    help_text = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["--help"]).output

    assert "Usage" in help_text
    assert len(help_text.splitlines()) <= MOST_LINES_OF_HELP


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= MOST_LINES_OF_README


def test_migrations_are_one_line_without_branches() -> None:
    names = sorted(path.name[:4] for path in (ROOT / "infra/migrations/versions").glob("0*.py"))

    assert names == [f"{number:04d}" for number in range(1, len(names) + 1)]

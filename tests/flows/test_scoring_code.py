"""Whatever code a suite's scores go through, a change in it is a change of the fingerprint; other
code is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import evaluators
from evaluators.suites import all_suites, module_of
from flows.audit import receipt_files
from flows.evaluate import score
from flows.publish import publish
from flows.run import questions
from flows.run.scoring_code import code_sha256, sources, tree_sha256

TREE = Path(evaluators.__file__).parent.parent
SUITES = [suite.name for suite in all_suites()]
each_suite = pytest.mark.parametrize("suite", SUITES)
STANDS_ON = {"universe_worlds": ("universe",), "universe_truth": ("universe", "universe_worlds")}
"""Suites whose code is part of another's: boards of one game. universe_truth scores by its
neighbour's module and has none of its own."""

SCORE = """
import sys
from importlib import import_module
from evaluators.contracts import Outcome, Output

suite = import_module(sys.argv[1]).SUITE
steps = {name.rpartition(".")[2]: import_module(name) for name in sys.argv[2:]}
samples = [sample for sample in suite.samples() if suite.subsets["demo"](sample)]
missing = [Output(sample.id, Outcome.OUTPUT_MISSING) for sample in samples]
scores = [score for pair in zip(samples, missing) for score in suite.scoring.score(*pair, {})]
assert scores and steps["columns"].tabulate(suite, samples, scores)
steps["summaries"].summaries(suite, samples, scores)
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "evaluators"))
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the package that may be edited."""
    shutil.copytree(
        TREE / "evaluators", tmp_path / "evaluators", ignore=shutil.ignore_patterns("data", "*.pyc")
    )
    return tmp_path


@each_suite
def test_an_edit_in_any_module_that_scoring_imports_moves_the_fingerprint(
    suite: str, tree: Path
) -> None:
    before = tree_sha256(tree, suite)
    imported = _imported_by_scoring(suite)

    unmoved = [name for name in imported if _sha256_with_an_edit(tree, name, suite) == before]

    assert before == tree_sha256(tree, suite) == code_sha256(suite)
    assert len(imported) > 20
    assert unmoved == []


@each_suite
def test_scoring_never_imports_what_is_left_out_of_the_fingerprint(suite: str) -> None:
    assert [
        name for name in _imported_by_scoring(suite) if name.startswith("evaluators.models")
    ] == []


@each_suite
def test_other_suites_training_and_curation_make_no_score_stale(suite: str, tree: Path) -> None:
    before = tree_sha256(tree, suite)
    stands_on = STANDS_ON.get(suite, ())
    elsewhere = [
        f"{module_of(name)}.scoring"
        for name in SUITES
        if name not in (suite, "universe_truth", *stands_on)
    ]

    moved = [
        name
        for name in (
            *elsewhere,
            "evaluators.models.vlm.judge",
            "evaluators.suites.tailor.curation.steps",
        )
        if _sha256_with_an_edit(tree, name, suite) != before
    ]

    assert moved == []


def test_comments_docstrings_and_layout_make_no_score_stale(tree: Path) -> None:
    file = tree / "evaluators" / "suites" / "tailor" / "scoring.py"
    before = tree_sha256(tree, "tailor")

    file.write_text(file.read_text().replace('"""', '"""In other words: ', 1) + "\n# a remark\n")

    assert tree_sha256(tree, "tailor") == before


def test_relative_imports_and_imports_inside_functions_are_followed(tree: Path) -> None:
    folder = tree / "evaluators" / "suites" / "tailor"
    (folder / "weights.py").write_text("WEIGHT = 1\n")
    (folder / "halves.py").write_text(
        "def half():\n    from .weights import WEIGHT\n    return WEIGHT / 2\n"
    )
    with (folder / "scoring.py").open("a") as stream:
        stream.write("\nfrom . import halves\n")

    names = sources(tree, "tailor").keys()

    assert {"evaluators.suites.tailor.halves", "evaluators.suites.tailor.weights"} <= names


def test_a_root_that_is_no_module_is_an_error_rather_than_a_smaller_fingerprint(tree: Path) -> None:
    cells = tree / "evaluators" / "aggregate" / "cells.py"
    cells.rename(cells.with_name("elsewhere.py"))

    with pytest.raises(LookupError, match=r"no module evaluators\.aggregate\.cells"):
        tree_sha256(tree, "tailor")


def test_a_fingerprint_is_made_in_less_than_a_third_of_a_second() -> None:
    code = (
        "from time import process_time as now; from flows.run.scoring_code import code_sha256\n"
        "start = now(); code_sha256('liva'); print(now() - start)"
    )

    took = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert float(took) < 0.3


@cache
def _imported_by_scoring(suite: str) -> list[str]:
    """What a new process has imported once it has scored: by the flow's own imports, not by
    ours."""
    steps = sorted(
        {name for module in (score, questions, publish, receipt_files) for name in _used(module)}
    )
    command = [sys.executable, "-c", SCORE, module_of(suite), *steps]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def _used(module: ModuleType) -> set[str]:
    """The modules of `evaluators` from which a module takes names."""
    origins = (getattr(value, "__module__", None) or "" for value in vars(module).values())
    return {origin for origin in origins if origin.startswith("evaluators.")}


def _sha256_with_an_edit(tree: Path, name: str, suite: str) -> str:
    """The fingerprint while this module does something else."""
    spot = tree.joinpath(*name.split("."))
    file = spot / "__init__.py" if spot.is_dir() else spot.with_suffix(".py")
    text = file.read_text()
    file.write_text(f"{text}\nEDITED = True\n")
    try:
        return tree_sha256(tree, suite)
    finally:
        file.write_text(text)

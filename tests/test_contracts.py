"""Each import contract of pyproject.toml is broken on purpose, on a copy of the tree, and caught.

The contract on torch names every part of evaluators but the models, whatever parts there are.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT

LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
CONTRACTS: dict[str, dict[str, Any]] = {
    contract["name"]: contract for contract in LINTER["contracts"]
}
PACKAGES: list[str] = LINTER["root_packages"]
TORCH = "Torch lives only in evaluators.models"
VERDICT = re.compile(r"^(.+) (KEPT|BROKEN)\b", re.MULTILINE)

BREACHES: dict[str, tuple[str, str]] = {
    "Imports point one way": ("submissions/format/breach.py", "import leaderboard.draw.words"),
    "Only flows sees evaluators": ("infra/store/breach.py", "import evaluators.metrics.means"),
    "Evaluators are a pure library": ("evaluators/metrics/breach.py", "import boto3"),
    "Prefect lives only in flows": ("leaderboard/cache/breach.py", "import prefect"),
    TORCH: ("evaluators/statistics/breach.py", "import torch"),
    "Suites do not know each other": (
        "evaluators/suites/sc3/breach.py",
        "import evaluators.suites.liva",
    ),
    "Models know nothing of suites": (
        "evaluators/models/vlm/breach.py",
        "import evaluators.suites.tailor",
    ),
    "Rooms of flows": ("flows/durable/breach.py", "import flows.publish.publish"),
    "Rooms of submissions": ("submissions/format/breach.py", "import submissions.gates.report"),
    "Rooms of the leaderboard": ("leaderboard/queries/breach.py", "import leaderboard.draw.words"),
    "Rooms of evaluators": ("evaluators/metrics/breach.py", "import evaluators.judges.card"),
    "Rooms of evaluators.models": (
        "evaluators/models/small.py",
        "import evaluators.models.adapt.train",
    ),
    "Rooms of infra": ("infra/settings.py", "import infra.db"),
}
"""For each contract a module and the import in it that the contract forbids."""
ALSO_BROKEN = {
    "Only flows sees evaluators": {"Imports point one way"},
    "Models know nothing of suites": {"Rooms of evaluators"},
}
"""Contracts that forbid the same import a second time."""


@pytest.fixture(scope="module")
def copied_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages' modules and the contracts, without anything else."""
    tree = tmp_path_factory.mktemp("contracts")
    shutil.copy(ROOT / "pyproject.toml", tree)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            copy = tree / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return tree


def verdicts(tree: Path) -> dict[str, str]:
    """What import-linter says of each contract in that tree."""
    linted = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=tree,
        env={"PYTHONPATH": str(tree), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return dict(VERDICT.findall(linted.stdout)) or pytest.fail(linted.stdout + linted.stderr)


def test_every_contract_is_kept_by_the_tree(copied_tree: Path) -> None:
    assert verdicts(copied_tree) == dict.fromkeys(CONTRACTS, "KEPT")


def test_every_contract_has_a_breach_to_be_tested_with() -> None:
    assert BREACHES.keys() == CONTRACTS.keys()


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_catches_the_import_that_it_forbids(copied_tree: Path, name: str) -> None:
    module, statement = BREACHES[name]
    path = copied_tree / module
    before = path.read_text("utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{statement}\n", "utf-8")
    try:
        verdict_of = verdicts(copied_tree)
    finally:
        path.unlink() if before is None else path.write_text(before, "utf-8")
    broken = {contract for contract, verdict in verdict_of.items() if verdict == "BROKEN"}

    assert broken == {name} | ALSO_BROKEN.get(name, set())


def test_torch_is_forbidden_everywhere_but_in_the_models() -> None:
    parts = {
        f"evaluators.{path.stem}"
        for path in (ROOT / "evaluators").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    allowed = {"evaluators.__init__", "evaluators.models"}

    assert set(CONTRACTS[TORCH]["source_modules"]) == (parts - allowed) | (
        set(PACKAGES) - {"evaluators"}
    )

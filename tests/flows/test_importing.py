"""Outputs that have no manifest: every suite's by a list, TailOR's by their names, and a refusal
for the rest."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evaluators.suites import all_suites, suite_named
from flows.cli.app import app
from flows.run.catalogue import from_code
from flows.suites.tailor_import import Outputs, bundle
from submissions.bundle.check import check
from submissions.format.errors import IntakeError
from tests.bundles import declaration
from tests.command import WIDE

MODALITIES = {
    "tailor": ["image"],
    "liva": ["video"],
    "sc3": ["trajectory"],
    "universe": ["text"],
    "universe_worlds": ["video"],
    "universe_truth": ["video"],
}


def manifest(folder: Path, suite: str, **changes: Any) -> Path:
    """A manifest for a suite, without its files."""
    version = suite_named(suite).version
    content = declaration(
        suite=suite, suite_version=version, modalities=MODALITIES[suite], **changes
    )
    path = folder / "manifest.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def listed(folder: Path, samples: list[str], suffix: str) -> Path:
    """Files of any names, and the CSV that says which sample each is for."""
    (folder / "outputs").mkdir()
    for number, _ in enumerate(samples):
        (folder / "outputs" / f"{number}{suffix}").write_text("yes", "utf-8")
    table = folder / "list.csv"
    rows = [f"{sample},{number}{suffix}" for number, sample in enumerate(samples)]
    table.write_text("\n".join(["sample,file", *rows]), "utf-8")
    return table


@pytest.mark.parametrize("suite", [suite.name for suite in all_suites()])
def test_a_list_makes_a_bundle_of_any_suite(suite: str, tmp_path: Path) -> None:
    samples = [sample.id for sample in suite_named(suite).samples()][:3]
    table = listed(tmp_path, samples, ".bin")

    written = bundle(
        Outputs(tmp_path / "outputs", manifest(tmp_path, suite), table), tmp_path / "bundle.zip"
    )

    assert zipfile.ZipFile(written).namelist() == [
        *(f"outputs/{sample}.bin" for sample in sorted(samples)),
        "manifest.json",
    ]


def test_listed_answers_of_universe_pass_the_door(tmp_path: Path) -> None:
    universe = suite_named("universe")
    samples = [sample.id for sample in universe.samples() if universe.subsets["demo"](sample)]
    table = listed(tmp_path, samples, ".txt")

    written = bundle(
        Outputs(tmp_path / "outputs", manifest(tmp_path, "universe"), table),
        tmp_path / "bundle.zip",
    )

    checked = check(written, from_code())
    assert len(checked.media) == len(checked.expected) == len(samples)


@pytest.mark.parametrize(
    ("suite", "instead"),
    [
        ("universe", "armillary universe import"),
        ("sc3", "armillary sc3 pack"),
        ("liva", "--listed FILE"),
    ],
)
def test_without_a_list_a_suite_that_has_no_rule_for_names_says_what_to_do(
    suite: str, instead: str, tmp_path: Path
) -> None:
    to, path = tmp_path / "bundle.zip", manifest(tmp_path, suite)
    line = ["import", str(tmp_path), "--to", str(to), "--manifest", str(path), "--suite", suite]

    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, line)

    assert result.exit_code == 2
    assert "no rule for the names of files" in result.output and "--listed FILE" in result.output
    assert instead in result.output
    assert not to.exists()


@pytest.mark.parametrize("suite", ["tailor", "liva", "universe"])
def test_files_called_by_their_sample_make_a_bundle_of_any_suite(
    suite: str, tmp_path: Path
) -> None:
    samples = sorted(sample.id for sample in suite_named(suite).samples())[:3]
    (tmp_path / "outputs").mkdir()
    for sample in samples:
        (tmp_path / "outputs" / f"{sample}.bin").write_text("yes", "utf-8")

    written = bundle(
        Outputs(tmp_path / "outputs", manifest(tmp_path, suite)), tmp_path / "bundle.zip"
    )

    names = [f"outputs/{sample}.bin" for sample in samples]
    assert zipfile.ZipFile(written).namelist() == [*names, "manifest.json"]


def test_a_file_that_is_called_by_no_sample_is_told_with_a_near_one_that_is_free(
    tmp_path: Path,
) -> None:
    samples = sorted(sample.id for sample in suite_named("tailor").samples())[:2]
    (tmp_path / "outputs").mkdir()
    for name in (samples[0], f"{samples[1]}x"):
        (tmp_path / "outputs" / f"{name}.png").write_bytes(b"x")

    with pytest.raises(IntakeError) as refused:
        bundle(Outputs(tmp_path / "outputs", manifest(tmp_path, "tailor")), tmp_path / "b.zip")

    (problem,) = refused.value.problems
    assert problem.code == "E_ITEM_UNKNOWN" and repr(samples[1]) in problem.hint


@pytest.mark.parametrize(
    ("changes", "suite", "message"),
    [
        ({}, "universe", "The manifest is for the suite tailor, --suite says universe"),
        ({"suite": "tailr"}, None, "Did you mean 'tailor'"),
        ({"suite": ["tailor"]}, None, "There is no suite"),
    ],
)
def test_the_manifest_says_which_suite_it_is(
    changes: dict[str, Any], suite: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(declaration(**changes)), "utf-8")

    with pytest.raises(IntakeError, match=message):
        bundle(Outputs(tmp_path, path, suite=suite), tmp_path / "bundle.zip")


def test_a_list_and_numbers_of_tasks_are_not_given_together(tmp_path: Path) -> None:
    table = listed(tmp_path, [], ".png")

    with pytest.raises(IntakeError, match="E_ARGUMENTS"):
        bundle(
            Outputs(tmp_path, manifest(tmp_path, "tailor"), table, table), tmp_path / "bundle.zip"
        )

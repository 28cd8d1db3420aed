"""Everything may be named relative to the working folder, though the decoding children work in
another one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.app import app
from infra.settings import Settings
from submissions.bundle.check import Catalogue, check
from submissions.media.facts import inspect
from tests.bundles import picture

VARIABLES = ("HOME", "DATABASE_URL", "STORE", "S3_ENDPOINT", "JUDGE")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder of our own, and nothing set."""
    for name in VARIABLES:
        monkeypatch.delenv(f"ARMILLARY_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_bundle_named_relatively_is_checked(
    here: Path, outputs_bundle: Callable[..., Path], suites: Catalogue
) -> None:
    outputs_bundle("bundle.zip")

    found = check(Path("bundle.zip"), suites)

    assert found.media and not found.warnings


def test_a_single_file_named_relatively_is_inspected(here: Path) -> None:
    Path("one.png").write_bytes(picture(1))

    assert inspect(Path("one.png"), "one.png", "image").width == 48


def test_with_nothing_set_a_bundle_goes_in_below_the_working_folder(
    here: Path, outputs_bundle: Callable[..., Path]
) -> None:
    outputs_bundle("bundle.zip")

    said = [
        CliRunner().invoke(app, words)
        for words in (["init"], ["check", "bundle.zip"], ["submit", "bundle.zip"])
    ]

    assert [one.exit_code for one in said] == [0, 0, 0], said[-1].output
    assert "Received as sub-" in said[-1].output
    assert list((here / ".armillary" / "store" / "bundles").iterdir())


def test_relative_places_stay_where_they_are_when_the_working_folder_changes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_STORE", "objects")
    settings = Settings()

    monkeypatch.chdir("/")

    assert settings.objects == str(here / "objects")
    assert settings.work == here / ".armillary" / "work"
    assert settings.database == f"sqlite:///{here / '.armillary' / 'armillary.db'}"


def test_addresses_are_left_alone(here: Path) -> None:
    assert Settings(store="s3://bucket/prefix").objects == "s3://bucket/prefix"

"""The settings that a page server remembers: as good as read anew, without the cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.settings import Settings
from leaderboard.widgets.common import settings


def test_remembered_settings_follow_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_HOME", str(tmp_path / "first"))
    first = settings()

    monkeypatch.setenv("ARMILLARY_HOME", str(tmp_path / "second"))

    assert first.home == tmp_path / "first"
    assert settings().home == tmp_path / "second"
    assert settings() is settings()


def test_remembered_settings_follow_variables_in_any_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARMILLARY_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    settings()

    monkeypatch.setenv("armillary_home", str(tmp_path / "elsewhere"))

    assert settings() == Settings()
    assert settings().home == tmp_path / "elsewhere"


def test_remembered_settings_follow_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARMILLARY_HOME", raising=False)
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        monkeypatch.chdir(folder)

        assert settings().home == folder / ".armillary"


def test_remembered_settings_follow_the_users_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_HOME", "~/board")
    for folder in (tmp_path / "first", tmp_path / "second"):
        monkeypatch.setenv("HOME", str(folder))

        assert settings().home == folder / "board"

"""Settings come from the environment and from files of secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.workers.confined.model import limits
from infra.settings import Settings
from infra.store import boto


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "secrets"
    folder.mkdir()
    monkeypatch.setenv("ARMILLARY_SECRETS", str(folder))
    return folder


def test_a_secret_is_read_from_its_file_and_stands_in_no_environment(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_DATABASE_URL", "postgresql+psycopg://armillary@db:5432/board")
    for name, text in (
        ("armillary_database_password", "p@ss/word\n"),
        ("armillary_s3_key", "key"),
        ("armillary_s3_secret", "secret"),
    ):
        (secrets / name).write_text(text)
    settings = Settings()

    assert settings.database == "postgresql+psycopg://armillary:p%40ss%2Fword@db:5432/board"
    assert "p@ss" not in repr(settings)
    assert boto.credentials() == {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}


def test_the_environment_goes_before_the_files(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (secrets / "armillary_judge_url").write_text("https://file/v1")
    monkeypatch.setenv("ARMILLARY_JUDGE_URL", "https://environment/v1")

    assert Settings().judge_url == "https://environment/v1"


def test_a_handed_in_model_reads_neither_secrets_nor_certificates(
    secrets: Path, tmp_path: Path
) -> None:
    hidden = limits(Settings(certificates=tmp_path / "tls")).hidden

    assert {str(secrets), str(tmp_path / "tls")} <= set(hidden)

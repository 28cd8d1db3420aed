"""Models named by hub id and commit: fetched once, and only what cannot run, from a hub on this
machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import select
from typer.testing import CliRunner

from flows.cli.app import app
from infra.db import session
from infra.settings import Settings
from infra.store import Unreachable
from infra.tables import Submission
from submissions.format.errors import IntakeError
from submissions.intake.hub import fetch, read_hub
from tests.bundles import declaration
from tests.servers.hub import HubServer, serve
from tests.submissions.bad.models import folder

MODEL, REVISION = "owls/painter", "a" * 40


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    files = {name.removeprefix("model/"): data for name, data in folder().items()}
    files |= {
        "pytorch_model.bin": b"\x80\x04.",
        "modeling.py": b"import os",
        ".gitattributes": b"*",
        "a/b.pkl": b"\x80",
    }
    with serve(MODEL, REVISION, files) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        yield server


def test_only_weights_configs_and_tokenizers_are_fetched(hub: HubServer, tmp_path: Path) -> None:
    fetch(read_hub(f"{MODEL}@{REVISION}"), tmp_path / "model", 1 << 20)

    there = {
        path.relative_to(tmp_path / "model").as_posix()
        for path in (tmp_path / "model").rglob("*")
        if path.is_file()
    }
    assert there == {name.removeprefix("model/") for name in folder()}
    asked = [path for path in hub.asked if path.endswith((".bin", ".py", ".pkl", ".gitattributes"))]
    assert asked == []


def test_no_token_of_ours_goes_along_with_what_a_submitter_names(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_ours")

    fetch(read_hub(f"{MODEL}@{REVISION}"), tmp_path / "model", 1 << 20)

    assert hub.asked and hub.tokens == []


@pytest.mark.parametrize(
    "text",
    [
        "owls/painter",
        "owls/painter@main",
        f"owls@{REVISION}",
        f"../x@{REVISION}",
        f"https://x/y@{REVISION}",
    ],
)
def test_anything_but_one_commit_of_a_model_is_refused_before_any_socket(text: str) -> None:
    with pytest.raises(IntakeError) as refused:
        read_hub(text)

    assert refused.value.problems[0].code == "E_REVISION"


def test_absent_models_and_models_that_are_too_large_are_named_so(
    hub: HubServer, tmp_path: Path
) -> None:
    def code(text: str, most: int = 1 << 20) -> str:
        with pytest.raises(IntakeError) as refused:
            fetch(read_hub(text), tmp_path / "model", most)
        return refused.value.problems[0].code

    assert code(f"owls/nothing@{REVISION}") == "E_HUB_MISSING"
    assert code(f"{MODEL}@{'b' * 40}") == "E_HUB_MISSING"
    assert code(f"{MODEL}@{REVISION}", most=10) == "E_TOO_LARGE"


def test_a_branch_that_is_called_like_a_commit_is_none(hub: HubServer, tmp_path: Path) -> None:
    hub.commit = "c" * 40

    with pytest.raises(IntakeError) as refused:
        fetch(read_hub(f"{MODEL}@{REVISION}"), tmp_path / "model", 1 << 20)

    assert refused.value.problems[0].code == "E_HUB_MISSING"


def test_a_hub_that_fails_is_no_fault_of_the_team_s(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(Unreachable):
        fetch(read_hub(f"{MODEL}@{REVISION}"), tmp_path / "model", 1 << 20)


def test_a_model_is_handed_in_by_its_hub_id(hub: HubServer, door: Settings, tmp_path: Path) -> None:
    said = tmp_path / "declaration.json"
    said.write_text(json.dumps(declaration(kind="model")))

    result = CliRunner().invoke(
        app, ["submit", "--hub", f"{MODEL}@{REVISION}", "--manifest", str(said)]
    )

    assert result.exit_code == 0, result.output
    with session(door.database) as db:
        row = db.exec(select(Submission).where(Submission.trust == "A")).one()
    assert row.manifest["model"]["hub"] == {"id": MODEL, "revision": REVISION}

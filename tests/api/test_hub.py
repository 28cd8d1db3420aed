"""A model on a hub, named over the network: the server fetches that one commit and hands it in like
any bundle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.app import app
from infra.db import session
from infra.tables import Submission
from submissions.bundle.pack import pack_hub
from submissions.format.errors import IntakeError
from submissions.format.manifest import Hub
from submissions.tools.client import Server
from tests.bundles import declaration
from tests.servers.hub import serve
from tests.submissions.bad.models import folder

from .conftest import ON_BOTH, TEAM, Desk
from .served import served

pytestmark = ON_BOTH
MODEL, REVISION = "owls/painter", "a" * 40
FILES = {name.removeprefix("model/"): data for name, data in folder().items()}


def test_the_command_line_names_a_commit_and_the_server_fetches_it(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "declaration.json"
    said.write_text(json.dumps(declaration(kind="model", team=TEAM)))
    with serve(MODEL, REVISION, FILES) as hub, served(desk.settings) as address:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        words = [
            "submit",
            "--hub",
            f"{MODEL}@{REVISION}",
            "--manifest",
            str(said),
            "--server",
            address,
        ]
        result = CliRunner().invoke(app, [*words, "--token", desk.token])

    assert result.exit_code == 0, result.output
    with session(desk.settings.database) as db:
        row = db.get(Submission, result.output.split("Received as ")[1].split(".")[0])
        assert row and row.manifest["model"]["hub"] == {"id": MODEL, "revision": REVISION}
        assert {file["path"] for file in row.manifest["files"]} == set(folder())


def test_a_commit_that_is_not_there_is_refused_by_its_code(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Hub(id=MODEL, revision="b" * 40)
    bundle = pack_hub(tmp_path / "x.zip", declaration(kind="model", team=TEAM), other)
    with serve(MODEL, REVISION, FILES) as hub, served(desk.settings) as address:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        with pytest.raises(IntakeError) as refused:
            Server(address, desk.token).hand_in(bundle)

    assert [problem.code for problem in refused.value.problems] == ["E_HUB_MISSING"]

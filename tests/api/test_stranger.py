"""A stranger with pictures reaches the board over the network, by its own address."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route

import armillary
from infra.db import migrate, session
from infra.settings import Settings
from leaderboard.api.door import create_app
from submissions.format.errors import IntakeError
from submissions.teams import tokens
from submissions.tools.client import Server
from tests.api.served import served
from tests.command import Machine
from tests.submissions.test_starter import painted
from tests.test_python_client import NOTEBOOK


def _any_page(_request: Request) -> HTMLResponse:
    """A board answers every address with its page."""
    return HTMLResponse("<html>the board</html>")


@pytest.fixture
def host(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "host", {"ARMILLARY_ENGINE": "here"})
    machine.run("init")
    return machine


@pytest.fixture
def board(host: Machine) -> Iterator[tuple[str, str]]:
    """The address of a board with its API under /api, and a token of a team."""
    settings = Settings(home=host.home)
    migrate(settings.database)
    with session(settings.database) as db:
        tokens.add_team(db, "Owls")
        token = tokens.create(db, "Owls")
    routes = [Mount("/api", create_app(settings)), Route("/{path:path}", _any_page)]
    with served(Starlette(routes=routes)) as address:
        yield address, token


def test_from_nothing_to_a_published_entry_in_five_commands(
    board: tuple[str, str], host: Machine, tmp_path: Path
) -> None:
    address, token = board
    stranger = Machine(tmp_path / "elsewhere", {"ARMILLARY_TOKEN": token})
    folder = tmp_path / "my-entry"

    stranger.run("new", "tailor", str(folder), "--subset", "demo", "--team", "Owls")
    painted(folder)
    stranger.run("pack", str(folder))
    said = stranger.run("submit", f"{folder}.zip", "--server", address)
    received = said.split("Received as ")[1].split(".")[0]
    waiting = stranger.run("status", received, "--server", address)
    worker = threading.Thread(target=host.run_alone, args=("evaluate", received))
    worker.start()
    watched = stranger.run("status", received, "--server", address, "--watch")
    worker.join()

    assert f"{address}/submit?id={received}" in said
    assert "before it in the queue" in waiting
    assert "published" in watched
    assert received in stranger.run("status", "--server", address)
    assert "3 of 3 scored submissions left" in said
    entries = json.loads(host.run("board", "tailor", "--json"))
    assert [entry["submission_id"] for entry in entries if entry["trust"] == "B"] == [received]


def test_the_notebook_reaches_the_board(
    board: tuple[str, str], host: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells, one after the other, as a reader runs them; the work begins when it waits."""
    address, token = board
    variables = {"SERVER": address, "TOKEN": token, "TEAM": "Owls", "ENTRY": str(tmp_path / "e")}
    for name, value in variables.items():
        monkeypatch.setenv(f"ARMILLARY_{name}", value)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    *cells, last = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    names: dict[str, Any] = {}

    for cell in cells:
        exec(cell, names)
    worker = threading.Thread(
        target=host.run_alone, args=("evaluate", names["handed"].submission_id)
    )
    worker.start()
    exec(last, names)
    worker.join()

    assert names["status"].state == "published"


def test_the_script_hands_in_what_it_drew(
    board: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armillary.examples.hand_in import hand_in

    monkeypatch.setenv("ARMILLARY_TOKEN", board[1])

    submission_id = hand_in(board[0], tmp_path / "e", "Owls", wait=False)

    assert armillary.status(submission_id, server=board[0]).state == "received"


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [("suite_version", "9.9", "E_SUITE_VERSION"), ("subset", "half", "E_SUBSET")],
)
def test_a_wrong_version_is_told_before_a_byte_travels(
    field: str,
    value: str,
    code: str,
    board: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from submissions.bundle.pack import pack_outputs
    from submissions.tools.starter import EntryFacts, declaration_of

    declaration = declaration_of(
        EntryFacts("tailor", "2.0", "demo", "Owls", "m", "a@b.c"), ["image"]
    )
    (tmp_path / "x.png").write_bytes(b"0" * 1000)
    declaration = {**declaration, field: value}
    bundle = pack_outputs(tmp_path / "b.zip", declaration, {"x": tmp_path / "x.png"})
    monkeypatch.setattr(Server, "_send", lambda *_: pytest.fail("bytes were sent"))

    with pytest.raises(IntakeError) as refused:
        Server(*board).hand_in(bundle)

    assert code in [problem.code for problem in refused.value.problems]


def test_a_queue_that_nobody_works_on_says_so(
    board: tuple[str, str], host: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import timedelta

    from leaderboard.queries.glance import waiting

    folder = tmp_path / "e"
    stranger = Machine(tmp_path / "elsewhere", {"ARMILLARY_TOKEN": board[1]})
    stranger.run("new", "tailor", str(folder), "--subset", "demo", "--team", "Owls")
    painted(folder)
    stranger.run("pack", str(folder))
    said = stranger.run("submit", f"{folder}.zip", "--server", board[0])
    received = said.split("Received as ")[1].split(".")[0]
    monkeypatch.setattr(waiting, "PATIENCE", timedelta(0))

    with session(Settings(home=host.home).database) as db:
        sentence = waiting.waiting_sentence(db, received)

    assert "No worker is running" in sentence and "minute" not in sentence

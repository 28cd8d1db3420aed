"""A lab's own data set and an operator's private clips, from the command line to a board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from evaluators.contracts import Outcome
from evaluators.suites.universe.bank import PRIVATE, private_samples, write_rows
from evaluators.suites.universe.bank_making import make_bank
from evaluators.suites.universe.producing import PACKAGED_JUDGE
from evaluators.worlds.doom.filming import engine
from infra.db import session
from infra.settings import Settings
from infra.tables import Output, Run
from leaderboard.api.app import create
from leaderboard.export.static_site import write
from tests.bundles import declaration
from tests.command import Machine
from tests.suites.universe.recordings import DESCRIPTION, recorded

pytestmark = pytest.mark.xdist_group("embedded")


def test_a_labs_own_recordings_become_a_board_on_which_answers_are_ranked(tmp_path: Path) -> None:
    data, answers = tmp_path / "data", tmp_path / "answers.jsonl"
    about, card = tmp_path / "manifest.json", tmp_path / "description.json"
    card.write_text(json.dumps(DESCRIPTION))
    Machine(tmp_path / "before").run(
        *("universe", "convert", str(recorded(tmp_path / "recordings")), str(data)),
        *("--description", str(card)),
    )
    bank = {"suite": "universe", "name": "our_game", "version": "1.0", "title": "Our game"}
    (data / "bank.json").write_text(json.dumps(bank))
    name = "universe.our_game"
    machine = Machine(
        tmp_path / "home", {"ARMILLARY_BANKS_PATH": str(data), "ARMILLARY_ENGINE": "here"}
    )
    said = declaration(suite=name, suite_version="1.0", subset="full", modalities=["text"])
    about.write_text(json.dumps(said))
    asked = [json.loads(line) for line in machine.run("samples", name).splitlines()]
    lines = [json.dumps({"sample": one["sample"], "answer": "yes"}) for one in asked]
    answers.write_text("\n".join(lines))
    bundle = tmp_path / "bundle.zip"

    machine.run("init")
    machine.run(
        *("universe", "import", str(answers), "--to", str(bundle), "--manifest", str(about))
    )
    submission = machine.submit(bundle)
    machine.run("evaluate", submission)
    rows = json.loads(machine.run("board", name, "--format", "json"))

    (ranked,) = (row for row in rows if row["rank"])
    assert ranked["n_expected"] == len(asked) == 48
    binary = machine.run("board", name, "--setting", "binary", "--format", "json")
    assert [row["value"] for row in json.loads(binary) if row["rank"]] == [50.0]
    assert "All agree with the board" in machine.run("verify", submission)


def test_only_aggregates_of_private_clips_leave_the_server(tmp_path: Path) -> None:
    private = tmp_path / "private"
    clips = make_bank(engine().record, 2**41, {"environment_1": 8})
    write_rows(private / "universe" / "clips.jsonl", clips)
    variables = {"ARMILLARY_PRIVATE": str(private), "ARMILLARY_ENGINE": "here"}
    machine = Machine(tmp_path / "home", variables)
    about = tmp_path / "manifest.json"
    said = declaration(
        suite="universe", suite_version="2.0", kind="model", modalities=["text"], subset="demo"
    )
    about.write_text(json.dumps(said))
    machine.run("init")
    told = machine.run("submit", "--model", str(PACKAGED_JUDGE), "--manifest", str(about))
    submission = next(word.strip(".") for word in told.split() if word.startswith("sub-"))

    machine.run("evaluate", submission)
    settings = Settings(home=machine.home, private=private)
    with session(settings.database) as db:
        outputs = list(db.exec(select(Output)))
        run = db.exec(select(Run.id).where(Run.submission_id == submission)).one()
        exported = [Path(path).read_bytes() for path in write(db, tmp_path / "site")]
    api = TestClient(create(settings))
    pages = [api.get(f"/v1/runs/{run}/{page}").text for page in ("cells", "failures")]
    aggregates = api.get(f"/v1/runs/{run}/private").json()

    hidden = [row for row in outputs if row.sample_id.startswith(PRIVATE)]
    assert len(hidden) == len(private_samples(private / "universe"))
    assert {row.outcome for row in hidden} <= {Outcome.SCORED, Outcome.MODEL_FAILED}
    shown = "\n".join([*pages, *(file.decode("utf-8", "replace") for file in exported)])
    assert PRIVATE not in shown and "Painter" in shown
    assert aggregates and all(row["n_expected"] for row in aggregates)

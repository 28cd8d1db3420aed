"""Both ways onto SC3's board, by the command line: finished rollouts, and a video world model that
we roll out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import Machine
from tests.suites.sc3.rolled import DEMO, bundle, model_folder, playback, rolled, said

pytestmark = pytest.mark.xdist_group("embedded")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """One home for both, without the seconds that Prefect's server takes to start."""
    machine = Machine(tmp_path_factory.mktemp("board") / "home", {"ARMILLARY_ENGINE": "here"})
    machine.run("init")
    return machine


def hand_in_model(machine: Machine, folder: Path, name: str) -> str:
    manifest = folder.parent / f"{folder.name}.json"
    model = {**said()["model"], "name": name}
    manifest.write_text(json.dumps(said(kind="model", model=model, team=f"Team {name}")))
    told = machine.run("submit", "--model", str(folder), "--manifest", str(manifest))
    return next(word.strip(".") for word in told.split() if word.startswith("sub-"))


def entry_of(machine: Machine, model: str, metric: str) -> dict[str, Any]:
    """What the board says of a model online, all splits together."""
    address = ("--metric", metric, "--setting", "online", "--modality", "video")
    found = json.loads(machine.run("board", "sc3", *address, "--format", "json"))
    return next(one for one in found if one["model"] == model)


def test_finished_rollouts_go_through_the_door_to_the_board(
    machine: Machine, tmp_path: Path
) -> None:
    submission = machine.submit(bundle(tmp_path / "bundle.zip", rolled(playback(), DEMO, tmp_path)))

    told = machine.run("evaluate", submission)

    entry = entry_of(machine, "Painter", "reproduction_average")
    assert "42 outputs made" in told
    assert (entry["trust"], entry["n_scored"], entry["n_expected"], entry["note"]) == (
        "B",
        21,
        21,
        "",
    )
    assert entry["value"] > 0.6
    assert "All agree with the board" in machine.run("verify", submission)


def test_a_video_world_model_s_folder_is_rolled_out_and_reaches_the_board(
    machine: Machine, tmp_path: Path
) -> None:
    submission = hand_in_model(machine, model_folder(tmp_path / "model"), "Small")

    told = machine.run("evaluate", submission)

    entry = entry_of(machine, "Small", "reproduction_average")
    assert "42 outputs made" in told
    assert (entry["trust"], entry["n_scored"], entry["n_expected"]) == ("A", 21, 21)
    assert entry["value"] < 0.6 and entry["low"] is not None
    assert "All agree with the board" in machine.run("verify", submission)


def test_the_bare_command_shows_a_board_that_has_figures(machine: Machine) -> None:
    shown = machine.run("board", "sc3")

    assert "task pooled, setting online" in shown and "Pearson r" in shown

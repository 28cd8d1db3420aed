"""Asking a judge again: the flip rate is real, on the card, and moves no score."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bundles import drawn_outputs
from tests.command import Machine


def test_the_flip_rate_goes_onto_the_card_and_no_score_moves(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", {"ARMILLARY_ENGINE": "here"})
    machine.run("init")
    submission = machine.submit(drawn_outputs(tmp_path / "bundle.zip"))
    before_publication = machine.run("audit", "repeats", submission, status=2)
    machine.run("evaluate", submission)
    board = json.loads(machine.run("board", "tailor", "--format", "json"))

    first = machine.run("audit", "repeats", submission, "--times", "3", "--outputs", "5")
    second = machine.run("audit", "repeats", submission, "--times", "3", "--outputs", "5")

    assert "Evaluate it first" in before_publication
    assert "Flip rate" in first and "5 outputs asked about 3 times" in first
    assert next(line for line in second.splitlines() if "Flip rate" in line) in first
    after = json.loads(machine.run("board", "tailor", "--format", "json"))
    assert [entry["value"] for entry in after] == [entry["value"] for entry in board]
    assert all(
        new["low"] <= old["low"] and old["high"] <= new["high"]
        for new, old in zip(after, board, strict=True)
    )
    assert _card(machine)["flip_rate"] > 0.5
    assert "All agree with the board" in machine.run("verify", submission)


def _card(machine: Machine) -> dict[str, float]:
    """The scripted judge answers by a hash that takes the repeat in, so it flips most of the
    time."""
    import sqlite3

    with sqlite3.connect(machine.home / "armillary.db") as db:
        cards = [
            json.loads(row[0]) for row in db.execute("SELECT card FROM judge WHERE kind = 'auto'")
        ]
    noise: dict[str, float] = next(card["noise"] for card in cards if "noise" in card)
    return noise

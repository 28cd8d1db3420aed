"""What painted words win is measured and on the card; what is worth a second look is a row and
moves no score."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluators.judges.overlays import paint
from evaluators.media import write_png
from flows.evaluate.flags import WritingWork, _written
from flows.workers.specs import WorkerPlace
from infra.store import open_store, put_blob
from tests.bundles import demo_samples, drawn_outputs
from tests.command import Machine

HAS_OCR = importlib.util.find_spec("rapidocr_onnxruntime") is not None


def test_the_uplift_goes_onto_the_card_and_no_score_moves(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", {"ARMILLARY_ENGINE": "here"})
    machine.run("init")
    submission = machine.submit(drawn_outputs(tmp_path / "bundle.zip", edit=_blacken))
    machine.run("evaluate", submission)
    board = machine.run("board", "tailor", "--format", "csv")

    said = machine.run("audit", "overlays", submission, "--outputs", "2")

    with sqlite3.connect(machine.home / "armillary.db") as db:
        cards = [
            json.loads(row[0]) for row in db.execute("SELECT card FROM judge WHERE kind = 'auto'")
        ]
        flags = db.execute("SELECT sample_id, kind FROM flag").fetchall()
    kept = next(card["overlays"] for card in cards if "overlays" in card)
    assert flags == [(demo_samples()[0].id, "W_STATIC")]
    assert kept["pairs"] == 50 and kept["pictures"] == 2
    assert f"uplift {kept['points']:+.1f} points (50 pairs" in said
    assert machine.run("board", "tailor", "--format", "csv") == board


@pytest.mark.skipif(not HAS_OCR, reason="the extra `ocr` is not installed")
def test_a_sentence_in_a_picture_is_read_and_a_plain_picture_has_none(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 60, (256, 256, 3), dtype=np.uint8)
    store = open_store(str(tmp_path / "store"))
    spoken = put_blob(
        store, write_png(paint(noise, "Rated 5 out of 5 by experts", "top"), tmp_path / "a.png")
    )
    silent = put_blob(store, write_png(noise, tmp_path / "b.png"))
    work = WritingWork({"one": spoken, "two": silent}, {"one": "image", "two": "image"})

    found = {one["sample_id"]: one["text"] for one in _written(work, _place(tmp_path), store)}

    assert "out of" in found["one"].lower()
    assert found["two"] == ""


def _blacken(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
    """The first picture becomes one colour."""
    data = io.BytesIO()
    Image.new("RGB", (48, 32)).save(data, "PNG")
    first = manifest["files"][0]
    members[first["path"]] = data.getvalue()
    first["sha256"] = hashlib.sha256(data.getvalue()).hexdigest()


def _place(folder: Path) -> WorkerPlace:
    return WorkerPlace(str(folder / "store"), None, str(folder / "work"), "cpu")

"""A lab's own cases: drafted both ways from pictures that this test draws, reviewed, mounted,
filmed, judged and ranked on a board of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from evaluators.models import small
from evaluators.suites.liva.cases.folder import load
from flows.suites.liva_curate import Drafted, from_goals, from_photos
from infra.settings import Settings
from tests.command import Machine
from tests.suites.liva.test_drafting import Scripted, decide_all
from tests.suites.liva.test_evaluation import declaration

NAME = "liva.our_kitchen"


def draw_kitchen(to: Path, wall: tuple[int, int, int]) -> None:
    """A table with a red mug, a steel kettle and a third thing on it."""
    picture = Image.new("RGB", (320, 180), wall)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 110, 320, 180), fill=(170, 130, 90))
    draw.rectangle((60, 90, 95, 130), fill=(204, 64, 60))
    draw.ellipse((150, 80, 210, 135), fill=(172, 180, 190))
    draw.polygon(((250, 130), (265, 85), (280, 130)), fill=(240, 240, 250))
    picture.save(to, "PNG")


def photographed(folder: Path) -> Path:
    folder.mkdir()
    draw_kitchen(folder / "photo.png", (226, 236, 232))
    (folder / "intentions.csv").write_text(
        "file,case_id,intention,license\nphoto.png,kitchen_case14,Fill the mug.,CC0-1.0\n"
    )
    return folder


def paint(_case_id: str, _prompt: str, to: Path) -> None:
    draw_kitchen(to, (206, 216, 238))


def until_written(settings: Settings, name: str, photos: Path | None, to: Path) -> Drafted:
    """Run a curation again and again, with people who keep everything between two runs."""
    for _ in range(5):
        if photos:
            drafted = from_photos(settings, name, photos, to, Scripted())
        else:
            drafted = from_goals(settings, name, "kitchen", 2, to, Scripted(), paint)
        if not drafted.open:
            return drafted
        decide_all(settings, name)
    raise AssertionError(drafted.open)


@pytest.mark.xdist_group("embedded")
def test_cases_drafted_both_ways_are_reviewed_mounted_filmed_judged_and_ranked(
    ready: Settings, tmp_path: Path
) -> None:
    cases = tmp_path / "kitchen"
    until_written(ready, "photos", photographed(tmp_path / "photos"), cases)
    until_written(ready, "goals", None, cases)
    card = {"suite": "liva", "name": "our_kitchen", "version": "1.0", "title": "Our kitchen"}
    (cases / "bank.json").write_text(json.dumps(card))
    machine = Machine(
        tmp_path / "board", {"ARMILLARY_BANKS_PATH": str(cases), "ARMILLARY_ENGINE": "here"}
    )
    entry = declaration(suite=NAME, suite_version="1.0", subset="single_clip")
    (tmp_path / "declaration.json").write_text(json.dumps(entry))
    model = small.make_image_to_video(tmp_path / "model")

    machine.run("init")
    handed = machine.run(
        "submit", "--model", str(model), "--manifest", str(tmp_path / "declaration.json")
    )
    submission = next(word.strip(".") for word in handed.split() if word.startswith("sub-"))
    machine.run("evaluate", submission)

    assert {case.source for case in load(cases)} == {"real", "synthetic"}
    rows = json.loads(machine.run("board", NAME, "--setting", "single_clip", "--format", "json"))
    (ranked,) = (row for row in rows if row["rank"])
    assert ranked["rank"] == 1 and ranked["value"] is not None
    assert (ranked["n_scored"], ranked["n_expected"]) == (3, 3)
    assert "All agree with the board" in machine.run("verify", submission)

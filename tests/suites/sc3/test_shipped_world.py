"""The small video world model that is shipped: it opens, its gates are what its card says, and
measured again they are the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts.world_model import ForwardRequest, imagine
from evaluators.models.video_world.gates import GateReport, measure_gates
from evaluators.models.video_world.table_course import MOTION, is_held_out, part_practice
from evaluators.suites.sc3.producing import open_folder
from evaluators.suites.sc3.samples import recording_of, samples
from evaluators.suites.sc3.yardsticks import SHIPPED_WORLD
from evaluators.worlds.tabletop.library import make_practice, read_practice
from tests.worlds.stages import open_stage

STORED = json.loads((SHIPPED_WORLD / "gates.json").read_text("utf-8"))
REPORT = GateReport.from_json(STORED)
HELD_OUT = ("0007", "0015", "play-0007", "play-0015")


def test_the_card_and_the_suite_tell_the_gates_as_they_were_measured() -> None:
    documents = [SHIPPED_WORLD / "README.md", SHIPPED_WORLD.parents[1] / "README.md"]
    figures = (REPORT.inverse_r2, REPORT.u_auc)

    for document in documents:
        words = document.read_text("utf-8")
        assert all(f"{figure:.3f}".lstrip("0") in words for figure in figures)
        assert f"{REPORT.cross_view_gain:.2f} dB".lstrip("0") in words
    assert REPORT.proven == {"forward", "inverse"}


def test_the_stored_gates_say_that_cross_view_fails_and_by_how_much() -> None:
    assert STORED["cross_view_gain"] == pytest.approx(REPORT.cross_view_gain)
    assert STORED["verdict"] == REPORT.verdict == "gates: failed cross-view gain 0.14 dB"


def test_it_imagines_from_a_start_and_its_picture_moves() -> None:
    world = open_folder(SHIPPED_WORLD)
    recording = recording_of(samples()[0])
    nothing = np.zeros((0, 7), np.float32)
    first = recording.first[:, None]

    (ahead,) = imagine(world, [ForwardRequest("s", 1, "", first, nothing, recording.actions[:16])])

    assert ahead.shape == (3, 16, 64, 64, 3) and world.card.tau is not None
    assert np.abs(ahead[:, -1].astype(float) - recording.first).mean() > 1


@pytest.mark.long
def test_on_practice_recorded_anew_the_gates_are_what_the_stored_ones_say(tmp_path: Path) -> None:
    open_stage()
    assert all(is_held_out(name) for name in HELD_OUT)
    clips = [read_practice(path) for path in make_practice(HELD_OUT, tmp_path)]

    from evaluators.models.video_world.world import open_world

    report = measure_gates(open_world(SHIPPED_WORLD).model, part_practice(clips).held_out, MOTION)

    assert report.proven == REPORT.proven == {"forward", "inverse"}
    assert report.cross_view_gain == pytest.approx(REPORT.cross_view_gain, abs=0.2)
    assert report.psnr_forward - report.psnr_frozen > 2

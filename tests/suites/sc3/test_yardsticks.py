"""The rows beside the ranking: made, read and scored, a second real run above and the fakes
below."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.contracts import ALL, Cell
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.reading import read_yardstick
from evaluators.suites.sc3.scoring import tabulate
from submissions.bundle.answers import AnswerRule, value_facts
from tests.suites.sc3.rolled import ONE_START as CHOSEN
from tests.suites.sc3.rolled import cell, scored

pytestmark = pytest.mark.xdist_group("sc3 yardsticks")

Board = dict[str, tuple[Cell, ...]]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    found: Board = {}
    for one in SUITE.yardsticks:
        files = one.make(CHOSEN, {}, tmp_path_factory.mktemp("made") / "files")
        for path in list(files.values())[:2]:
            value_facts(path.read_bytes(), path.name, one.modality, AnswerRule())
        found[one.title] = tabulate(CHOSEN, scored(files, read_yardstick, CHOSEN))
    return found


def test_every_yardstick_is_taken_at_the_door_and_has_numbers_for_every_rollout(
    board: Board,
) -> None:
    assert len(board) == len(SUITE.yardsticks) >= 8
    for found in board.values():
        whole = cell(found, "reproduction_average", ALL, "online")
        assert whole.value is not None and (whole.n_scored, whole.n_expected) == (7, 7)


def test_the_ceiling_is_a_second_run_and_has_no_pictures_to_compare(board: Board) -> None:
    ceiling = board["Second real run (simulated)"]

    for mode in ("offline", "online"):
        assert cell(ceiling, "reproduction_average", ALL, mode).n_scored == 7
    assert cell(ceiling, "psnr", ALL, "offline").value is None
    assert (cell(board["Still world"], "psnr", ALL, "offline").value or 0) > 10


def test_whose_labels_they_are_is_told_beside_each(board: Board) -> None:
    notes = {
        name: cell(found, "pearson_r", "pooled", "online").note for name, found in board.items()
    }

    assert notes["Criterion mean"] == "labels of 7 of 7 rollouts are made up"
    assert "simulator's own, from shipped trials" in notes["Second real run (simulated)"]
    assert "annotator's, from shipped trials" in notes["Grey world"]


def test_over_all_starts_the_ceiling_is_above_whoever_looks_at_nothing(tmp_path: Path) -> None:
    quick = ("Second real run (simulated)", "Criterion mean", "Shuffled policies")
    reproduced = {}
    for one in [one for one in SUITE.yardsticks if one.title in quick]:
        files = one.make(SUITE.samples(), {}, tmp_path / one.title)
        found = tabulate(SUITE.samples(), scored(files, read_yardstick, SUITE.samples()))
        reproduced[one.title] = cell(found, "reproduction_average", ALL, "online").value or 0

    assert max(reproduced, key=reproduced.__getitem__) == quick[0] and reproduced[quick[0]] < 0.9

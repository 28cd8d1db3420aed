"""The rows beside the ranking: made, read and scored like any entry, with the simulator above and
the fakes below."""

from __future__ import annotations

import pytest

from evaluators.contracts import ALL, Cell
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.reading import read_yardstick
from evaluators.suites.sc3.scoring import tabulate
from submissions.bundle.answers import AnswerRule, value_facts
from tests.suites.sc3.rolled import DEMO, cell, scored

pytestmark = pytest.mark.xdist_group("sc3 yardsticks")

Board = dict[str, tuple[Cell, ...]]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    found: Board = {}
    for one in SUITE.yardsticks:
        files = one.make(DEMO, {}, tmp_path_factory.mktemp("made") / "files")
        assert files.keys() == {sample.id for sample in DEMO}
        for path in list(files.values())[:2]:
            value_facts(path.read_bytes(), path.name, one.modality, AnswerRule())
        found[one.title] = tabulate(DEMO, scored(files, read_yardstick))
    return found


def test_every_yardstick_is_taken_at_the_door_and_has_numbers_for_every_rollout(
    board: Board,
) -> None:
    assert len(board) == len(SUITE.yardsticks) == 10
    for found in board.values():
        for mode in ("offline", "online"):
            whole = cell(found, "reproduction_average", ALL, mode)
            assert whole.value is not None and (whole.n_scored, whole.n_expected) == (21, 21)


def test_the_simulator_is_the_ceiling_and_whoever_looks_at_nothing_stays_below(
    board: Board,
) -> None:
    reproduced = {
        name: cell(found, "reproduction_average", ALL, "online").value or 0
        for name, found in board.items()
    }

    assert (
        max(reproduced, key=reproduced.__getitem__) == "Simulator" and reproduced["Simulator"] > 0.9
    )
    for name in ("Copy of the last frame", "Criterion mean", "Shuffled policies"):
        assert reproduced[name] < 0.6
        assert reproduced[name] < reproduced["Small dynamics model, forward only"]
    assert cell(board["Copy of the last frame"], "pearson_r", "pooled", "online").value is None


def test_labels_that_were_made_up_are_marked_as_such(board: Board) -> None:
    notes = {
        name: cell(found, "pearson_r", "pooled", "online").note for name, found in board.items()
    }

    assert {name for name, note in notes.items() if note} == {"Criterion mean", "Shuffled policies"}
    assert notes["Criterion mean"] == "labels of 21 of 21 rollouts are made up"

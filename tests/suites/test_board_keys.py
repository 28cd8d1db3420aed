"""The keys of the boards: what a suite brings beside its samples moves none of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.suites import all_suites, suite_named
from flows.run.board_keys import board_key, items_sha256

ITEMS = {
    "tailor": "dd3e10dfd9e45cbd891869fbfc6061ae24984ee3652d5dc3cd8a1b4123dc8920",
    "liva": "40c10b9c9614f3a84f95e4cb402d7007da8d7f724e90b5c042a6a7f991e04a08",
    "sc3": "9483b4a09ee8f6850af32c49dd97e69060d10bfb960314dccb4bd2d7035bad42",
    "universe": "eb155e3984ee9668e001e4441a8087f71a39f626151e8d0b1d7187cfea55b0fa",
}
BOARDS = {
    "tailor": "100020c7c917cc26",
    "liva": "fc17028e7ba6e04d",
    "sc3": "5e0c0cc740e1ba5d",
    "universe": "7f862920c0fd4f06",
}


@pytest.mark.parametrize("name", BOARDS)
def test_entries_on_the_board_stay_comparable_with_new_ones(name: str) -> None:
    suite = suite_named(name)

    assert items_sha256(suite) == ITEMS[name]
    assert board_key(suite, "full", "judge") == BOARDS[name]


def test_traits_are_no_part_of_a_boards_key_and_versions_are() -> None:
    for suite in all_suites():
        bare = replace(suite, generation=None, rating=None, exam=None, yardsticks=())

        assert board_key(bare, "full", "judge") == board_key(suite, "full", "judge")
        newer = replace(suite, scorer_version="next")
        assert board_key(newer, "full", "judge") != board_key(suite, "full", "judge")

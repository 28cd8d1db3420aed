"""The keys of the boards: what a suite brings beside its samples moves none of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.contracts import Question
from evaluators.suites import all_suites, suite_named
from evaluators.suites.tailor.bank import card
from flows.run.board_keys import board_key, items_sha256, question_fields

ITEMS = {
    "liva": "b3e4849d833de32e9b39c8dd93576eaca7d238945e2c13b2e9a49d0e58ac9e4f",
    "sc3": "78b15a140d31c30312c2a2cd339929551d409dfd6d794574baa14ecaffc92207",
    "universe": "7967f278741d6124d4872943890c49005da9020b38fa5b626b491fed3220f24a",
    "universe_worlds": "b1f15292b52c4ba507e1e650fc3f571c2a58610221a2aaf67eabb250b90c3d91",
    "universe_truth": "b1f15292b52c4ba507e1e650fc3f571c2a58610221a2aaf67eabb250b90c3d91",
}
BOARDS = {
    "liva": "01b6b84b193cabe9",
    "sc3": "12f0bb03861477e5",
    "universe": "554d35c6474e5f69",
    "universe_worlds": "49a65cb40b0fab7d",
    "universe_truth": "d4cac6d126e9fda1",
}


def test_every_suite_but_a_bank_that_is_still_being_read_has_its_key_here() -> None:
    in_review = {"tailor"} if card()["state"] == "in review" else set()

    assert {suite.name for suite in all_suites()} == set(BOARDS) | in_review


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


def test_a_question_without_a_parent_is_written_as_before_there_were_parents() -> None:
    alone = Question("q1", "Is a rope visible?", "yes_no")

    assert "parent" not in question_fields(alone)
    assert question_fields(replace(alone, parent="q0"))["parent"] == "q0"
    assert set(question_fields(replace(alone, parent="q0"))) - {"parent"} == set(
        question_fields(alone)
    )

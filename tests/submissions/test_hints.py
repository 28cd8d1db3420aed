"""Near names among very many: found where they begin or end alike, without a look at each."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import pytest

from submissions.bundle import listing
from submissions.format.errors import MOST_PROBLEMS

NAMES = [f"outputs/{number:06d}-of-a-long-list.png" for number in range(50_000)]
TYPOS = {
    "outputs/012345-of-a-long-list.pgn": "outputs/012345-of-a-long-list.png",
    "output/012345-of-a-long-list.png": "outputs/012345-of-a-long-list.png",
    "outputs/049999-of-a-lon-list.png": "outputs/049999-of-a-long-list.png",
    "Outputs/000000-of-a-long-list.png": "outputs/000000-of-a-long-list.png",
}


@pytest.mark.parametrize("typo", TYPOS)
def test_a_name_with_a_typo_is_told_the_right_one(typo: str) -> None:
    assert listing._Hints(NAMES).near(typo) == f"Did you mean {TYPOS[typo]!r}?"


def test_nothing_is_suggested_for_a_name_like_no_other() -> None:
    assert listing._Hints(NAMES).near("zzzz") == ""
    assert listing._Hints([]).near("zzzz") == ""


def test_each_search_compares_a_few_names_of_bounded_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[Sequence[str]] = []

    def counted(name: str, names: Sequence[str], *rest: Any) -> list[str]:
        compared.append([name, *names])
        return difflib.get_close_matches(name, names, *rest)

    monkeypatch.setattr(listing, "get_close_matches", counted)
    hints = listing._Hints(
        [*NAMES, *("outputs/" + "a" * 1000 + str(number) for number in range(500))]
    )

    for number in range(MOST_PROBLEMS + 10):
        hints.near("outputs/" + "a" * 500 + str(number))

    assert len(compared) == MOST_PROBLEMS
    assert max(map(len, compared)) <= 4 * listing.AROUND + 1
    assert max(len(name) for names in compared for name in names) <= listing.MOST_COMPARED

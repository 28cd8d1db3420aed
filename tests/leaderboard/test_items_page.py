"""The page Items shows the statistics that are stored, worst first, and can be narrowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.db import add_new, session
from infra.settings import Settings
from infra.tables.findings import ItemStatisticRow
from leaderboard.views.items import frame
from tests.leaderboard.made_board import settings_in
from tests.leaderboard.pages import opened, words_of


def rows() -> list[ItemStatisticRow]:
    return [
        ItemStatisticRow(
            suite="tailor",
            version="2.0",
            n=12,
            entries=3,
            fallen=0.0,
            instance=f"cut_rope.{number}",
            question="whole",
            position=number,
            text=text,
            difficulty=0.5,
            discrimination=0.25 * number - 0.5,
            flags=flags,
        )
        for number, (text, flags) in enumerate(
            [("Is it whole?", ["tells the wrong way"]), ("Is it cut?", [])]
        )
    ]


@pytest.fixture
def with_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    from flows.run import catalogue
    from infra.db import migrate

    settings = settings_in(tmp_path / "home")
    monkeypatch.setenv("ARMILLARY_HOME", str(settings.home))
    migrate(settings.database)
    with session(settings.database) as db:
        catalogue.load(db)
        add_new(db, ItemStatisticRow, [row.model_dump() for row in rows()])
    return settings


def test_the_worst_question_stands_first_with_its_reason(with_items: Settings) -> None:
    page = opened("items")

    assert not page.exception
    assert "2 questions shown, 1 to look at, version 2.0" in words_of(page)
    assert list(page.dataframe[0].value["Question"]) == ["Is it whole?", "Is it cut?"]


def test_the_table_says_why_and_keeps_what_is_not_known() -> None:
    table = frame(rows())

    assert list(table["Why"]) == ["tells the wrong way", ""]
    assert list(table["Discrimination"]) == [-0.5, -0.25]
    assert table["Judges differ"].isna().all()


def test_without_judged_entries_the_page_says_how_to_get_there(at_board: Settings) -> None:
    assert "armillary tailor items" in words_of(opened("items"))

"""An operator runs a study from the page: create, invite, open, close, publish; a reader then sees
its results."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from evaluators.metrics.rubric import PARTS
from evaluators.suites.tailor.scoring import RATINGS
from flows.studies.orders import carry_out
from infra.db import session
from infra.settings import Settings
from infra.tables.study import Study
from leaderboard.draw.words import plain
from leaderboard.studies.agreeing import HEADLINES
from submissions.teams import tokens
from tests.leaderboard.pages import opened, words_of
from tests.studies.entries import enter
from tests.studies.making import by_reading, rate


def token(settings: Settings, scope: str) -> str:
    with session(settings.database) as db:
        tokens.add_team(db, "Board keepers")
        return tokens.create(db, "Board keepers", (scope,))


def state(settings: Settings) -> str:
    with session(settings.database) as db:
        return db.get_one(Study, "first").state


def press(page: AppTest, key: str) -> AppTest:
    page.button(key=key).click().run()
    assert not page.exception and not page.error
    return page


def test_a_study_from_the_first_click_to_its_results(ready: Settings, tmp_path: Path) -> None:
    enter(ready, "tailor", {"Glassbead-7B": "Team Petrel", "Northwind-XL": "Team Skua"}, tmp_path)
    page = opened("studies")
    page.text_input(key="operate-studies").set_value(token(ready, "operate")).run()

    page.multiselect[0].set_value(["sub-tailor0", "sub-tailor1"]).run()
    next(box for box in page.text_input if box.label == "Id").set_value("first").run()
    next(box for box in page.text_input if box.label.startswith("Title")).set_value(
        "Which is better?"
    ).run()
    next(one for one in page.button if one.label == "Create").click().run()
    carry_out(ready)
    page.run()
    press(page, "invite-first")
    keys = [line.rpartition("key=")[2] for line in page.code[0].value.splitlines()]
    press(page, "open-first")
    for key in keys:
        rate(ready, key, by_reading)
    press(page, "closed-first")
    press(page, "published-first")
    carry_out(ready)

    assert len(keys) == 3 and state(ready) == "published"
    seen = opened("studies")
    assert not seen.exception and "3 raters" in words_of(seen)
    assert [one.label for one in seen.metric] == list(HEADLINES.values())
    by_part = next(one.value for one in seen.dataframe if "Level" in one.value)
    assert by_part["About"].tolist() == [plain(name) for name in (*PARTS, *RATINGS)]
    assert by_part["Level"].tolist() == ["nominal"] * len(PARTS) + ["ordinal"] * len(RATINGS)
    assert by_part["Spearman"].notna().tolist() == [False] * len(PARTS) + [True] * len(RATINGS)
    assert by_part["Alpha"].notna().tolist() == [
        name != "motion_plausibility" for name in (*PARTS, *RATINGS)
    ]


def test_without_the_scope_nothing_is_shown(ready: Settings) -> None:
    page = opened("studies")

    page.text_input(key="operate-studies").set_value(token(ready, "submit")).run()

    assert page.error and not page.button

"""A study of a subset is about exactly its samples, from the command, the page and an order."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from evaluators.contracts import Sample
from evaluators.suites.tailor import SUITE
from flows.studies.items import MOST, items_of_board
from flows.studies.orders import carry_out
from infra.db import session
from infra.settings import Settings
from infra.tables.study import StudyItem, StudyOrder
from leaderboard.studies.states import StudyError
from submissions.teams import tokens
from tests.command import Machine
from tests.leaderboard.pages import opened
from tests.studies import entries

FOR_PEOPLE = {sample.id for sample in SUITE.samples() if SUITE.subsets["human80"](sample)}
NAMES = {"Glassbead-7B": "Team Petrel"}


def human80_and_others(_suite: str) -> list[Sample]:
    """What people are asked about, and as many beside it."""
    beside = [sample for sample in SUITE.samples() if sample.id not in FOR_PEOPLE][:80]
    return [sample for sample in SUITE.samples() if sample.id in FOR_PEOPLE or sample in beside]


@pytest.fixture
def entered(ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(entries, "chosen", human80_and_others)
    (name,) = entries.enter(ready, "tailor", NAMES, tmp_path)
    return name


def asked_about(settings: Settings, study: str) -> set[str]:
    with session(settings.database) as db:
        items = db.exec(select(StudyItem).where(StudyItem.study_id == study)).all()
        assert len({item.id for item in items if item.kind == "real"}) <= len(FOR_PEOPLE)
        return {item.behind["samples"]["A"] for item in items}


def test_exactly_the_samples_of_a_subset_become_items(
    ready: Settings, entered: str, tmp_path: Path
) -> None:
    machine = Machine(ready.home)
    create = ("study", "create", "people", "tailor", "--submission", entered)

    whole = items_of_board(ready, "tailor", [entered], None, 1, "human80")
    some = items_of_board(ready, "tailor", [entered], 12, 1, "human80")
    drawn = items_of_board(ready, "tailor", [entered], None, 1)
    machine.run(*create, "--subset", "human80")

    assert len(whole) == len(FOR_PEOPLE) == 80
    assert {item["behind"]["samples"]["A"] for item in whole} == FOR_PEOPLE
    assert len(some) == 12 and {item["behind"]["samples"]["A"] for item in some} < FOR_PEOPLE
    assert len(drawn) == MOST and not {i["behind"]["samples"]["A"] for i in drawn} <= FOR_PEOPLE
    assert asked_about(ready, "people") == FOR_PEOPLE


def test_a_subset_that_is_none_or_that_no_entry_answered_is_refused(
    ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [sample for sample in SUITE.samples() if not SUITE.subsets["demo"](sample)][:2]
    monkeypatch.setattr(entries, "chosen", lambda _suite: others)
    (name,) = entries.enter(ready, "tailor", NAMES, tmp_path)

    with pytest.raises(StudyError, match="human8'.*Did you mean 'human80'.*full, human80, demo"):
        items_of_board(ready, "tailor", [name], None, 1, "human8")
    with pytest.raises(StudyError, match="has an output of tailor's subset 'demo'"):
        items_of_board(ready, "tailor", [name], None, 1, "demo")


def test_the_page_orders_a_study_of_a_subset(ready: Settings, entered: str) -> None:
    with session(ready.database) as db:
        tokens.add_team(db, "Board keepers")
        token = tokens.create(db, "Board keepers", ("operate",))
    page = opened("studies")
    page.text_input(key="operate-studies").set_value(token).run()

    page.multiselect[0].set_value([entered]).run()
    next(box for box in page.selectbox if box.label == "Subset").set_value("human80").run()
    number = next(box for box in page.number_input if box.label == "Samples")
    next(box for box in page.text_input if box.label == "Id").set_value("people").run()
    next(one for one in page.button if one.label == "Create").click().run()
    carry_out(ready)

    assert not page.exception and number.disabled
    with session(ready.database) as db:
        assert db.exec(select(StudyOrder)).one().state == "done"
    assert asked_about(ready, "people") == FOR_PEOPLE

"""The review queue: what a decision needs, what it leaves behind, and the page on which people take
it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from infra.db import add_new, migrate, session
from infra.settings import Settings
from infra.tables import CurationCall, Draft, now
from leaderboard.queries import review_queue
from leaderboard.queries.review_queue import NotDecided, Queued
from tests.leaderboard.pages import opened, words_of

HOSTILE = "<script>alert(1)</script> **bold** [link](http://example.org) :red[x]"
TASK = {"task_goal": "Cut a rope on a pier", "required_tool_attributes": ["sharp edge", "stiff"]}


def row(draft_id: str, **changes: Any) -> dict[str, Any]:
    """A draft as the flow puts it in the queue."""
    fields: dict[str, Any] = {
        "id": draft_id,
        "call_id": "call",
        "curation": "spring",
        "step": 7,
        "kind": "question",
        "field": "entity",
    }
    fields |= {
        "task_id": "cut_rope",
        "instance": None,
        "position": 0,
        "payload": {"text": "Is there a rope?"},
    }
    fields |= {
        "edited": {},
        "context": {"task_goal": "Cut a rope"},
        "note": "",
        "status": "candidate",
    }
    return {**fields, "reviewer": "", "reason": "", "created_at": now(), **changes}


def call(**changes: Any) -> dict[str, Any]:
    """A call that was answered."""
    fields: dict[str, Any] = {
        "id": "call",
        "curation": "spring",
        "step": "tasks",
        "subject": "cut",
        "status": "done",
        "reason": "",
    }
    fields |= {
        "model": "writer-1",
        "prompt_version": "0" * 64,
        "temperature": 0.7,
        "payload": {},
        "raw": "{}",
    }
    return {
        **fields,
        "tries": 1,
        "tokens_in": 0,
        "tokens_out": 0,
        "cost": 0.0,
        "at": now(),
        **changes,
    }


@pytest.fixture
def place(home: Settings) -> Settings:
    """A queue with a task and two questions, and a call that failed."""
    migrate(home.database)
    failed = call(
        id="bad",
        status="failed",
        subject="peel",
        reason="there is no JSON object",
        raw=HOSTILE,
        tries=3,
    )
    with session(home.database) as db:
        add_new(db, CurationCall, [call(), failed])
        add_new(
            db,
            Draft,
            [row("q1"), row("q2", position=1, payload={"text": HOSTILE}, note="two checks in one")],
        )
        add_new(
            db,
            Draft,
            [
                row(
                    "t1",
                    step=4,
                    kind="task",
                    field="task",
                    task_id="cut_pier",
                    payload=TASK,
                    context={},
                )
            ],
        )
    return home


def draft(place: Settings, draft_id: str) -> Queued:
    """One draft as it is now."""
    with session(place.database) as db:
        return review_queue.queued_draft(db, draft_id)


def test_the_queue_reads_task_by_task_and_knows_who_wrote_what(place: Settings) -> None:
    with session(place.database) as db:
        found = review_queue.queue(db, "spring")
        counted = review_queue.counts(db)

    assert [one.id for one in found] == ["t1", "q1", "q2"]
    assert {one.model for one in found} == {"writer-1"}
    assert [(one.step, one.status, one.count) for one in counted] == [
        (4, "candidate", 1),
        (7, "candidate", 2),
    ]


def test_a_decision_is_kept_with_who_took_it_when_and_why(place: Settings) -> None:
    with session(place.database) as db:
        review_queue.keep(db, ["q1"], " Ada ")
        review_queue.drop(db, ["q2"], "Grace", "not visible")
        review_queue.edit(
            db, "t1", {"required_tool_attributes": "hard edge\n\n stiff"}, "Ada", "clearer"
        )

    assert (draft(place, "q1").status, draft(place, "q1").reviewer) == ("kept", "Ada")
    assert (draft(place, "q2").status, draft(place, "q2").reason) == ("dropped", "not visible")
    edited = draft(place, "t1")
    assert edited.words == {
        "task_goal": TASK["task_goal"],
        "required_tool_attributes": ["hard edge", "stiff"],
    }
    assert edited.original == TASK
    assert edited.decided_at is not None


def test_keeping_an_edited_draft_brings_its_first_words_back(place: Settings) -> None:
    with session(place.database) as db:
        review_queue.edit(db, "q1", {"text": "Is there a long rope?"}, "Ada", "clearer")
        review_queue.keep(db, ["q1"], "Ada")

    assert draft(place, "q1").words == {"text": "Is there a rope?"}


@pytest.mark.parametrize(
    ("words", "reviewer", "reason", "said"),
    [
        ({"text": "Is there a cable?"}, "Ada", " ", "needs a reason"),
        ({"text": "Is there a cable?"}, "", "better", "reviewer's name is empty"),
        ({"text": "Is there a rope?"}, "Ada", "better", "Nothing was changed"),
        ({"text": "  "}, "Ada", "better", "text is empty"),
        ({"question": "Is it?"}, "Ada", "better", "nothing called 'question'"),
        ({"text": "Is\x00it?"}, "Ada", "better", "invisible character"),
        ({"text": "x" * 2001}, "Ada", "better", "2001 characters"),
    ],
)
def test_a_decision_that_lacks_something_changes_nothing(
    place: Settings, words: dict[str, str], reviewer: str, reason: str, said: str
) -> None:
    with pytest.raises(NotDecided, match=said), session(place.database) as db:
        review_queue.edit(db, "q1", words, reviewer, reason)

    assert draft(place, "q1").status == "candidate"


def test_keeping_the_rest_leaves_alone_what_was_decided(place: Settings) -> None:
    with session(place.database) as db:
        review_queue.drop(db, ["q2"], "Grace", "not visible")
        kept = review_queue.keep_rest(db, "spring", "cut_rope", 7, "Ada")

    assert kept == 1
    assert draft(place, "q2").status == "dropped"


def test_drafts_that_are_offered_anew_take_the_place_of_undecided_ones_only(
    place: Settings,
) -> None:
    with session(place.database) as db:
        review_queue.keep(db, ["q1"], "Ada")
        there = review_queue.offer(db, [row("q3", payload={"text": "Is there a new rope?"})])
        left = {
            one.id
            for status in ("candidate", "kept")
            for one in review_queue.queue(db, "spring", status)
        }

    assert set(there) == {"q3"}
    assert left == {"t1", "q1", "q3"}


def test_an_unknown_draft_is_told_rather_than_raised_from_the_database(place: Settings) -> None:
    with pytest.raises(NotDecided, match="There is no draft 'q9'"), session(place.database) as db:
        review_queue.keep(db, ["q9"], "Ada")


def press(page: AppTest, key: str) -> AppTest:
    """Press a button."""
    return page.button(key=key).click().run()


def test_the_page_keeps_edits_and_drops(place: Settings) -> None:
    page = opened("review", reviewer="Ada")

    page = press(page, "keep-q1")
    page.text_input(key="reason-q2").set_value("markup in it")
    page = press(page, "drop-q2")
    page.text_area(key="words-t1-required_tool_attributes").set_value("hard edge\nstiff")
    page.text_input(key="reason-t1").set_value("clearer")
    page = press(page, "edit-t1")

    assert not page.exception
    assert [draft(place, one).status for one in ("q1", "q2", "t1")] == ["kept", "dropped", "edited"]
    assert draft(place, "t1").words["required_tool_attributes"] == ["hard edge", "stiff"]
    assert "Nothing here waits" in words_of(page)


def test_the_page_says_what_a_decision_lacks(place: Settings) -> None:
    nameless = press(opened("review"), "keep-q1")
    page = press(opened("review", reviewer="Ada"), "drop-q1")

    assert "reviewer's name is empty" in words_of(nameless)
    assert "needs a reason" in words_of(page)
    assert draft(place, "q1").status == "candidate"


def test_the_page_keeps_the_rest_of_a_task_at_once(place: Settings) -> None:
    press(opened("review", reviewer="Ada", task="cut_rope"), "rest-7")

    assert draft(place, "q1").status == draft(place, "q2").status == "kept"


def test_words_of_a_model_or_a_reviewer_are_shown_as_text_only(place: Settings) -> None:
    page = opened("review", reviewer=HOSTILE, task="cut_rope")

    marked = [
        str(one.value)
        for one in (*page.markdown, *page.caption, *page.title, *page.header, *page.subheader)
    ]
    assert not page.exception
    assert page.text_area(key="words-q2-text").value == HOSTILE
    assert not any("<script>" in text or "**bold**" in text for text in marked)
    assert "The checks say: two checks in one" in words_of(page)


def test_what_failed_stands_on_the_page_with_what_was_said(place: Settings) -> None:
    page = opened("review")

    assert any(HOSTILE in str(one.value) for one in page.code)
    assert "there is no JSON object" in page.dataframe[0].value.to_string()


def test_without_a_curation_the_page_says_how_to_begin(home: Settings) -> None:
    migrate(home.database)

    page = opened("review")

    assert not page.exception
    assert "armillary tailor curate" in words_of(page)


def test_a_view_of_the_queue_holds_no_sql() -> None:
    text = (
        Path(review_queue.__file__).parents[1] / "views" / "operators" / "review.py"
    ).read_text()

    assert "select(" not in text and "sqlmodel" not in text

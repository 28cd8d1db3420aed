"""The page on which people review the open bank: reading, settling, and the picture of a prompt."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from sqlmodel import Session
from streamlit.testing.v1 import AppTest

from flows.run.catalogue import judge_row
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from infra.store import open_store, put_blob
from leaderboard.queries.bank import items
from tests.leaderboard.made_board import AUTO, MODELS, START, _run, _submission
from tests.leaderboard.pages import opened, words_of
from tests.suites.tailor.people import (
    PROMPT,
    TASK,
    opened_for_three,
    standing,
)


@pytest.fixture
def place(ready: Settings) -> Settings:
    """A review of a task, open for three people."""
    return opened_for_three(ready)


def test_the_page_takes_a_task_from_reading_to_closed(place: Settings) -> None:
    page = press(opened("review", reviewer="Ada", task=TASK), "begin")
    page.selectbox(key="fault-category").set_value("leak").run()
    page.text_input(key="fault-note").set_value("it tells the end").run()
    page = press(page, "write")
    assert "ada: it tells the end" in words_of(page)
    page = press(page, "finish")
    assert "The other reader has not" in words_of(page)

    other = press(opened("review", reviewer="grace", task=TASK), "begin")
    assert "it tells the end" not in words_of(other)
    third = opened("review", reviewer="linus", task=TASK)
    assert "it tells the end" not in words_of(third)
    assert "has its two readers" in words_of(third)
    press(other, "finish")
    third = opened("review", reviewer="linus", task=TASK)
    assert "ada: it tells the end" in words_of(third)
    press(third, "close")
    refused = words_of(press(opened("review", reviewer="linus", task=TASK), "close"))
    assert "1 faults of cut_garden_twine are not settled" in refused
    (why,) = (box for box in third.text_input if box.label == "Why")
    why.set_value("true").run()
    page = press(press(third, str(why.key).replace("why", "settle")), "close")

    assert not page.exception
    assert "Closed by linus." in words_of(page)
    assert standing(place).state == "closed"


def test_the_page_offers_drafts_and_bank_where_both_wait(place: Settings) -> None:
    call = tables.CurationCall(
        id="call",
        curation="spring",
        step="tasks",
        subject="cut",
        status="done",
        model="writer-1",
        prompt_version="0",
    )
    with session(place.database) as db:
        add_new(db, tables.CurationCall, [call.model_dump()])

    drafts, bank = opened("review", reviewer="ada"), opened("review", reviewer="ada", about="bank")

    assert not drafts.exception and not bank.exception
    assert "Nothing here waits for a decision" in words_of(drafts)
    assert {button.key for button in bank.button} == {"begin"}


def test_the_page_says_whose_names_it_knows(place: Settings) -> None:
    nameless, stranger = opened("review", task=TASK), opened("review", reviewer="bob", task=TASK)

    assert "the name is empty" in words_of(nameless)
    assert "There is no person 'bob'" in words_of(stranger)
    assert "begin" not in {button.key for button in (*nameless.button, *stranger.button)}


def test_the_page_shows_prompts_rubrics_and_no_picture_where_there_is_none(
    place: Settings,
) -> None:
    page = opened("review", reviewer="ada", task=TASK, instance=f"{TASK}.3")

    (sample,) = (one for one in bank_samples(place) if one.sample_id == PROMPT)
    assert not page.exception
    assert not page.image
    assert sample.text in words_of(page)
    assert any(sample.asked[0].text in str(one.value.to_string()) for one in page.dataframe)


def test_the_page_shows_a_published_output_of_the_prompt(place: Settings) -> None:
    with session(place.database) as db:
        publish(place, db, state="judging")
    hidden = opened("review", reviewer="ada", task=TASK, instance=f"{TASK}.3")
    with session(place.database) as db:
        db.get_one(tables.Run, "run").state = "published"

    page = opened("review", reviewer="ada", task=TASK, instance=f"{TASK}.3")
    elsewhere = opened("review", reviewer="ada", task=TASK, instance=f"{TASK}.2")

    assert not page.exception
    assert [image.captions for image in page.image] == [["Output of Aurora Video 2"]]
    assert not hidden.image and not elsewhere.image


def press(page: AppTest, key: str) -> AppTest:
    """Press a button."""
    return page.button(key=key).click().run()


def bank_samples(place: Settings) -> tuple[items.BankPrompt, ...]:
    """The task's prompts as the page has them."""
    with session(place.database) as db:
        return items.prompts(db, "tailor", standing(place).version, TASK)


def publish(place: Settings, db: Session, state: str) -> None:
    """An entry with an output of one prompt."""
    file = io.BytesIO()
    Image.new("RGB", (64, 48), (200, 40, 40)).save(file, "PNG")
    picture = place.home / "picture.png"
    picture.write_bytes(file.getvalue())
    sha256 = put_blob(open_store(place.objects), picture)
    model, judge = MODELS[0], judge_row(AUTO)
    add_new(db, tables.Judge, [judge])
    add_new(db, tables.Submission, [_submission(model, START).model_dump()])
    run = _run("run", model, judge["fingerprint"], "board", START)
    run.state = state
    add_new(db, tables.Run, [run.model_dump()])
    facts = {"media_sha256": sha256, "media_type": "image/png", "size": 1, "record": {}}
    row = {"submission_id": model.id, "sample_id": PROMPT, "outcome": "scored", "reason": ""}
    add_new(db, tables.Output, [{**row, **facts}])

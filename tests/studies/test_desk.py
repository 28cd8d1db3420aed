"""The desk: what is begun can be left and taken up, nothing is lost, nothing is asked twice,
nothing tells a name."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import select

from flows.studies.board import compute
from flows.studies.create import StudyPlan, create, invite, move
from flows.studies.data import erase, exported, import_ratings
from flows.studies.items import items_of_file
from flows.studies.protocols import form_for, protocol_names
from infra.db import session
from infra.settings import Settings
from infra.store import fetch_blob, open_store
from infra.tables import now
from infra.tables.study import Rater, RaterContact, Seat, SeatEvent, Study, StudyItem
from leaderboard.studies import desk
from leaderboard.studies.forms import form_of, lettered, letters, unlettered
from leaderboard.studies.states import StudyError
from tests.studies.making import (
    SECRET_NAMES,
    board,
    by_chance,
    by_reading,
    items_file,
    opened,
    rate,
)

PROTOCOLS = protocol_names()


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return board(tmp_path_factory.mktemp("board") / "home")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_ten_raters_at_once_rate_everything_once(
    ready: Settings, protocol: str, tmp_path: Path
) -> None:
    keys = opened(
        ready, tmp_path, protocol, count=12 if protocol == "tailor" else 3, raters=10, each=2
    )

    with ThreadPoolExecutor(10) as pool:
        done = list(pool.map(lambda key: rate(ready, key, by_reading), keys))

    with session(ready.database) as db:
        seats = db.exec(select(Seat).where(Seat.study_id == protocol)).all()
        events = db.exec(select(SeatEvent).where(SeatEvent.kind == "handed in")).all()
    assert {seat.state for seat in seats} == {"done"}
    assert sum(done) == len(seats)
    assert max(Counter((event.item_id, event.rater_id) for event in events).values()) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_that_reaches_a_rater_tells_a_name(protocol: str, tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    opened(settings, tmp_path, protocol, count=3, raters=2, each=1)

    store = open_store(settings.objects)
    with session(settings.database) as db:
        items = db.exec(select(StudyItem).where(StudyItem.study_id == protocol)).all()

    assert items
    for item in items:
        served = json.dumps(item.form).encode() + item.id.encode()
        for medium in form_of(item.form).media:
            fetch_blob(store, medium.blob, tmp_path / "served")
            served += (tmp_path / "served").read_bytes()
        assert not [name for name in SECRET_NAMES if name.lower().encode() in served.lower()]


def test_letters_are_a_raters_own_and_come_back_true(tmp_path: Path) -> None:
    from leaderboard.studies.forms import Medium

    media = [Medium(letter, f"blob-{letter}", "video/mp4") for letter in "ABCD"]
    form = form_for("liva", {"intention": "Make tea.", "subgoals": ["water boils"]}, media)

    seen = lettered(form, "CADB")
    answers = {"A.pps": "5", "A.goal1": True, "B.pps": "1", "best": "A", "worst": "D"}

    assert [medium.blob for medium in seen.media] == ["blob-C", "blob-A", "blob-D", "blob-B"]
    assert letters(seen.media) == "ABCD"
    assert unlettered(answers, "CADB") == {
        "C.pps": "5",
        "C.goal1": True,
        "A.pps": "1",
        "best": "C",
        "worst": "B",
    }


def test_what_was_filled_in_is_there_again_and_the_last_can_be_taken_back(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    (key, _) = opened(settings, tmp_path, "liva", count=3, raters=2, each=1)
    with session(settings.database) as db:
        rater = desk.come_in(db, key)
        assert rater
        turn = desk.next_turn(db, rater)
        assert turn
        desk.save(db, rater, turn.item_id, {"A.pps": "4", "best": "A"}, "so far")

    with session(settings.database) as db:
        again = desk.next_turn(db, rater)
        assert again
    rate(settings, key, by_reading, most=1)
    with session(settings.database) as db:
        first = desk.progress(db, rater)
        assert desk.undo(db, rater)
        back = desk.next_turn(db, rater)
        assert back

    assert (again.item_id, again.comment) == (turn.item_id, "so far")
    assert dict(again.answers) == {"A.pps": "4", "best": "A"}
    assert first.finished == 1
    assert (back.item_id, back.answers["best"]) == (turn.item_id, "A")


def test_an_incomplete_or_impossible_form_is_not_taken(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    (key,) = opened(settings, tmp_path, "liva", count=1, raters=1, each=1)
    with session(settings.database) as db:
        rater = desk.come_in(db, key)
        assert rater
        turn = desk.next_turn(db, rater)
        assert turn

    with session(settings.database) as db:
        half = desk.hand_in(db, rater, turn.item_id, {"A.pps": "4"})
        same = desk.hand_in(
            db, rater, turn.item_id, {"A.pps": "4", "B.pps": "9", "best": "A", "worst": "A"}
        )
        unable = desk.hand_in(db, rater, turn.item_id, {"unable": True})

    assert "How plausible is it physically?: no answer yet." in half
    assert "Best and Worst cannot be the same." in same and any(
        "'9' is none of" in one for one in same
    )
    assert unable == []


def test_an_item_left_for_too_long_goes_to_somebody_else_and_its_words_stay_in_the_log(
    tmp_path: Path,
) -> None:
    settings = board(tmp_path / "home")
    keys = opened(settings, tmp_path, "tailor", count=4, raters=3, each=1)
    with session(settings.database) as db:
        rater = desk.come_in(db, keys[0])
        assert rater
        turn = desk.next_turn(db, rater)
        assert turn
        desk.save(db, rater, turn.item_id, {"c1": "yes"})
        study = db.get(Study, "tailor")
        assert study

        early = desk.release(db, study, now() + timedelta(minutes=29))
        late = desk.release(db, study, now() + timedelta(minutes=31))
        seat = db.exec(select(Seat).where(Seat.item_id == turn.item_id)).one()
        left = db.exec(select(SeatEvent).where(SeatEvent.kind == "left")).one()

    assert (early, late) == (0, 1)
    assert seat.rater_id != rater.id and seat.state == "waiting" and seat.answers == {}
    assert left.answers == {"c1": "yes"}
    with session(settings.database) as db, pytest.raises(desk.NotYours):
        desk.hand_in(db, rater, turn.item_id, {"c1": "yes"})


def test_two_who_differ_call_the_adjudicator_and_two_who_agree_do_not(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    first, second, adjudicator = opened(settings, tmp_path, "universe", count=6, raters=2, each=2)
    rate(settings, first, by_reading)

    turns = []

    def differs_every_second(ask, form):  # type: ignore[no-untyped-def]
        if "checks that you read" in form.text:
            return ask.options[-1]
        turns.append(form)
        return "incorrect" if len(turns) % 2 else "correct"

    rate(settings, second, differs_every_second)

    assert rate(settings, adjudicator, by_reading) == 3
    with session(settings.database) as db:
        study = db.get(Study, "universe")
        assert study
        table = compute(db, study)["all"]["table"]
    assert sum(row["n"] for row in table.values()) == 6
    assert {row["pending"] for row in table.values()} == {0}


def test_a_clicker_is_left_out_and_the_result_says_so(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    keys = opened(settings, tmp_path, "tailor", count=40, raters=4, each=3)
    for number, key in enumerate(keys):
        rate(settings, key, by_chance(number) if number == 0 else by_reading)

    with session(settings.database) as db:
        study = db.get(Study, "tailor")
        assert study
        result = compute(db, study)
        clicker = desk.come_in(db, keys[0])

    out = [one["rater"] for one in result["raters"] if one["left_out"]]
    assert clicker and out == [clicker.id]
    assert result["kept"]["agreement"]["raters"] == 3
    assert result["all"]["agreement"]["alpha"]["value"] < 0.9
    assert set(result["leave_one_out"]) == {one["rater"] for one in result["raters"]}


def test_erasing_a_rater_leaves_no_row_of_theirs(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    plan = StudyPlan("liva", "liva", "liva", "t", raters_per_item=2)
    create(settings, plan, items_of_file(items_file(tmp_path, "liva", 2)))
    keys = invite(settings, "liva", 3, email="someone@localhost")
    move(settings, "liva", "open")
    for key in keys:
        rate(settings, key, by_reading)
    with session(settings.database) as db:
        gone = desk.come_in(db, keys[1])
    assert gone

    erase(settings, gone.id)

    with session(settings.database) as db:
        for table in (Rater, RaterContact, Seat, SeatEvent):
            column = getattr(table, "id" if table is Rater else "rater_id")
            assert not db.exec(select(table).where(column == gone.id)).all(), table
    lines = list(exported(settings, "liva"))
    assert (
        lines and gone.id not in json.dumps(lines) and "someone@localhost" not in json.dumps(lines)
    )


def test_ratings_made_elsewhere_are_checked_and_taken_whole_or_not(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    opened(settings, tmp_path, "universe", count=2, raters=2, each=2)
    with session(settings.database) as db:
        seats = db.exec(select(Seat).where(Seat.study_id == "universe")).all()
    good = [
        {"item": seat.item_id, "rater": seat.rater_id, "answers": {"grade": "correct"}}
        for seat in seats
    ]
    bad = [*good[:-1], {**good[-1], "answers": {"grade": "splendid"}}]
    file = tmp_path / "ratings.jsonl"

    file.write_text("\n".join(map(json.dumps, bad)), "utf-8")
    with pytest.raises(
        StudyError, match="Line 4 of ratings.jsonl: .*splendid.*Nothing was taken in"
    ):
        import_ratings(settings, "universe", file)
    assert not list(exported(settings, "universe"))
    file.write_text("\n".join(map(json.dumps, good)), "utf-8")

    assert import_ratings(settings, "universe", file) == 4
    assert len(list(exported(settings, "universe"))) == 4


@pytest.mark.parametrize(
    "line",
    [
        '{"item": [1], "rater": {}, "answers": {}}',
        '{"item": "i", "rater": "r", "answers": {}, "seconds": "x"}',
        "7",
    ],
)
def test_a_line_that_is_no_rating_is_named_with_its_file(line: str, tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    file = tmp_path / "ratings.jsonl"
    file.write_text(line, "utf-8")

    with pytest.raises(StudyError, match="Line 1 of ratings.jsonl has no item, rater and answers"):
        import_ratings(settings, "universe", file)


def test_states_go_one_way_and_say_where(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    opened(settings, tmp_path, "liva", count=1, raters=3)

    with pytest.raises(StudyError, match="from there it goes to closed"):
        move(settings, "liva", "published")
    with pytest.raises(StudyError, match="invited before it opens"):
        invite(settings, "liva", 1)
    move(settings, "liva", "closed")
    with session(settings.database) as db:
        assert desk.come_in(db, "wrong") is None

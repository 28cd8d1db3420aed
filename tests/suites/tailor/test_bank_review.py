"""People's review of the open bank: two read without each other's notes, a third settles, and the
records are those that language models leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluators.suites.tailor.bank import public
from evaluators.suites.tailor.upkeep import records as bank_records
from evaluators.suites.tailor.upkeep.reading import by_kind_of_reader
from evaluators.suites.tailor.upkeep.records import ReviewRecord, records
from flows.cli.app import app
from flows.run import catalogue
from flows.suites.tailor_reading import export, open_review
from infra.db import migrate, session
from infra.settings import Settings
from leaderboard.queries.bank import reading, review, settling
from leaderboard.queries.bank.review import FaultPlace
from leaderboard.queries.review_queue import NotDecided
from tests.servers.postgres import PostgresServer
from tests.suites.tailor.people import (
    LEAK,
    PEOPLE,
    PHYSICS,
    SAME_LEAK,
    TASK,
    does,
    opened_for_three,
    read,
    standing,
)


@pytest.fixture
def place(ready: Settings) -> Settings:
    """A review of a task, open for three people."""
    return opened_for_three(ready)


def reviewed(place: Settings) -> None:
    """Two have read the task, and a third has settled and closed it."""
    read(place, "ada", LEAK, PHYSICS)
    read(place, "grace", SAME_LEAK)
    for fault, decision in ((LEAK, "changed"), (SAME_LEAK, "dropped"), (PHYSICS, "kept")):
        does(place, settling.settle, "linus", fault, decision, "it is so")
    does(place, settling.close, "linus")


def test_what_two_readers_and_a_settler_wrote_are_records_with_the_right_kappa(
    place: Settings, tmp_path: Path
) -> None:
    reviewed(place)

    files = export(place, tmp_path / "out")
    found = records(tmp_path / "out")
    report = by_kind_of_reader(found)["person"]
    leak = next(row for row in report.agreement if row.category == "leak")

    assert [file.name for file in files] == [f"{TASK}.{name}.jsonl" for name in PEOPLE]
    assert {record.by for record in found} == {"person"}
    assert [record.kind for record in found if record.reader == "linus"] == [
        *("settled",) * 3,
        "closed",
    ]
    assert (report.read_twice, report.closed) == (1, 1)
    assert (leak.prompts, leak.first, leak.second, leak.both) == (20, 4, 1, 1)
    assert leak.kappa == pytest.approx((17 / 20 - 0.77) / (1 - 0.77))
    assert report.decisions["leak"] == {"changed": 1, "dropped": 1, "kept": 0}
    assert report.decisions["physics"]["kept"] == 1


def test_the_report_shows_people_apart_from_language_models(
    place: Settings, tmp_path: Path
) -> None:
    reviewed(place)
    shown = CliRunner().invoke(app, ["tailor", "review-export", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    before = CliRunner().invoke(app, ["tailor", "review-report", "--json"])

    command = ["tailor", "review-report", "--records", str(tmp_path / "out"), "--json"]
    rows = json.loads(CliRunner().invoke(app, command).stdout)

    models = [row for row in rows if row["by"] == "language model"]
    (leak,) = (row for row in rows if row["by"] == "person" and row["category"] == "leak")
    assert models == json.loads(before.stdout)
    assert (leak["prompts read twice"], leak["to both"], leak["kappa"]) == (20, 1, 0.35)
    assert leak["settled: changed"] == 1


def test_a_reader_never_gets_the_other_s_notes_before_both_have_read(place: Settings) -> None:
    def seen(who: str) -> set[str]:
        return {note.reader for note in does(place, reading.notes, who)}

    does(place, reading.begin, "ada")
    does(place, reading.begin, "grace")
    does(place, reading.note_fault, "ada", LEAK, "it tells the end")
    does(place, reading.note_fault, "grace", PHYSICS, "twine is tougher")
    assert [seen(who) for who in PEOPLE] == [{"ada"}, {"grace"}, set()]
    does(place, reading.finish, "ada")
    assert [seen(who) for who in PEOPLE] == [{"ada"}, {"grace"}, set()]
    assert standing(place).unsettled == 0

    does(place, reading.finish, "grace")

    assert [seen(who) for who in PEOPLE] == [{"ada", "grace"}] * 3
    assert standing(place).unsettled == 2


def test_the_whole_review_goes_the_same_way_on_postgresql(
    home: Settings, postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_DATABASE_URL", postgres_server.fresh_database())
    place = Settings()
    migrate(place.database)
    with session(place.database) as db:
        catalogue.load(db)
    open_review(place, [TASK], PEOPLE)
    does(place, reading.begin, "grace")
    read(place, "ada", LEAK, PHYSICS)

    assert does(place, reading.notes, "grace") == []
    does(place, reading.give_back, "grace")
    read(place, "grace", SAME_LEAK)
    for fault in (LEAK, SAME_LEAK, PHYSICS):
        does(place, settling.settle, "linus", fault, "kept", "it is so")
    does(place, settling.close, "linus")

    assert standing(place).state == "closed"
    assert len(export(place, tmp_path / "out")) == 3


def test_nothing_is_exported_before_both_have_read(place: Settings, tmp_path: Path) -> None:
    read(place, "ada", LEAK)

    with pytest.raises(NotDecided, match="No task has been read by two people yet"):
        export(place, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_nobody_reads_twice_or_settles_what_they_read(place: Settings) -> None:
    deed = (settling.settle, LEAK, "kept", "it stands")
    read(place, "ada", LEAK)

    with pytest.raises(NotDecided, match="ada has read cut_garden_twine already"):
        does(place, reading.finish, " Ada ")
    with pytest.raises(NotDecided, match="ada has read cut_garden_twine already"):
        does(place, reading.note_fault, "ada", PHYSICS, "one more")
    with pytest.raises(NotDecided, match="once two have read it; 1 of 2 have"):
        does(place, deed[0], "linus", *deed[1:])
    does(place, reading.begin, "ada")
    assert standing(place).begun == ("ada",)
    read(place, "grace")
    with pytest.raises(NotDecided, match="has its two readers"):
        does(place, reading.begin, "linus")
    for who in ("ada", "grace"):
        with pytest.raises(NotDecided, match=f"{who} has read .* so somebody else settles it"):
            does(place, deed[0], who, *deed[1:])
        with pytest.raises(NotDecided, match="somebody else settles it"):
            does(place, settling.close, who)
    assert does(place, reading.notes, "linus")[0].note == "ada says so"
    assert standing(place).state == "to settle"


def test_a_task_is_closed_once_every_fault_is_settled(place: Settings) -> None:
    read(place, "ada", LEAK)
    read(place, "grace", LEAK, PHYSICS)
    does(place, settling.settle, "linus", LEAK, "kept", "the act, not its end")

    with pytest.raises(NotDecided, match="1 faults of cut_garden_twine are not settled"):
        does(place, settling.close, "linus")
    with pytest.raises(NotDecided, match="No reader found this fault"):
        does(place, settling.settle, "linus", SAME_LEAK, "kept", "?")
    does(place, settling.settle, "linus", PHYSICS, "changed", "tougher twine")
    does(place, settling.close, "linus")

    assert (standing(place).state, standing(place).closed_by) == ("closed", "linus")
    with pytest.raises(NotDecided, match="closed already"):
        does(place, settling.settle, "linus", LEAK, "dropped", "after all")


def test_a_place_given_back_is_another_s_and_its_notes_are_gone(place: Settings) -> None:
    does(place, reading.begin, "ada")
    does(place, reading.note_fault, "ada", LEAK, "it tells the end")
    does(place, reading.note_fault, "ada", PHYSICS, "struck out")
    does(place, reading.take_back, "ada", PHYSICS)
    assert [note.place for note in does(place, reading.notes, "ada")] == [LEAK]

    does(place, reading.give_back, "ada")
    read(place, "grace")
    read(place, "linus")

    assert does(place, reading.notes, "ada") == []
    assert standing(place).read == ("grace", "linus")


@pytest.mark.parametrize(
    ("who", "fault", "note", "said"),
    [
        ("", LEAK, "x", "Say who you are: the name is empty"),
        ("gracie", LEAK, "x", "There is no person 'gracie' in .* Did you mean 'grace'"),
        ("ada", FaultPlace("tie_bag.1", "", "leak"), "x", "There is no item 'tie_bag.1' in cut_"),
        ("ada", FaultPlace(TASK, "stat_1", "leak"), "x", "There is no question 'stat_1' in cut_"),
        ("ada", FaultPlace(TASK, "", "ugly"), "x", "There is no category 'ugly'. .*physics"),
        ("ada", LEAK, " ", "The note is empty"),
        ("ada", LEAK, "a\nb", "the note holds a line break"),
        ("linus", LEAK, "x", "linus does not read cut_garden_twine. Take a place"),
    ],
)
def test_a_wrong_name_is_refused_in_words(
    place: Settings, who: str, fault: FaultPlace, note: str, said: str
) -> None:
    does(place, reading.begin, "ada")

    with pytest.raises(NotDecided, match=said):
        does(place, reading.note_fault, who, fault, note)

    assert does(place, reading.notes, "ada") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--person", "ada", "--person", "grace"], "there is ada and grace. Name 3 people"),
        (["--person", "aa1"], "'aa1' is a language model in the bank's records"),
        (["--person", "Ada Lovelace"], "is not a short name for a person in a review"),
        (["--task", TASK], "Nobody is named"),
    ],
)
def test_a_review_that_cannot_be_held_is_not_opened(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")

    refused = CliRunner().invoke(app, ["tailor", "review-bank", *words])

    assert refused.exit_code == 2
    assert said in refused.output
    with session(ready.database) as db:
        assert review.standings(db, "tailor") == []


def test_a_task_that_nobody_opened_has_no_review(place: Settings) -> None:
    with (
        pytest.raises(NotDecided, match="There is no review of a task 'no_task'. .*review-bank"),
        session(place.database) as db,
    ):
        reading.begin(db, "tailor", "no_task", "ada")


def test_all_tasks_are_opened_by_default_and_people_can_join(ready: Settings) -> None:
    names = [word for name in PEOPLE for word in ("--person", name)]
    assert CliRunner().invoke(app, ["tailor", "review-bank", *names]).exit_code == 0
    read(ready, "ada", LEAK)

    more = ["tailor", "review-bank", "--person", "joan", "--task", TASK, "--json"]
    shown = json.loads(CliRunner().invoke(app, more).stdout)

    assert len(shown) == len(public().tasks)
    (row,) = (row for row in shown if row["task"] == TASK)
    assert (row["people"], row["state"], row["read"]) == (
        "ada, grace, linus, joan",
        "being read",
        1,
    )


def test_an_export_never_replaces_a_language_model_s_records(
    place: Settings, tmp_path: Path
) -> None:
    reviewed(place)
    first = [file.read_bytes() for file in export(place, tmp_path)]
    again = [file.read_bytes() for file in export(place, tmp_path)]
    file = tmp_path / f"{TASK}.ada.jsonl"
    kept = '{"kind": "read", "task": "cut_garden_twine", "reader": "ada", "by": "language model"}\n'
    file.write_text(kept, "utf-8")

    with pytest.raises(NotDecided, match="ada.jsonl holds records that no person wrote"):
        export(place, tmp_path)

    assert first == again
    assert file.read_text("utf-8") == kept


def test_page_and_records_know_the_same_categories_and_decisions() -> None:
    assert review.CATEGORIES == bank_records.CATEGORIES
    assert review.DECISIONS == bank_records.DECISIONS


def test_a_fault_that_does_not_say_by_whom_goes_with_its_reader() -> None:
    ada = ReviewRecord("read", "ada", TASK, by="person")
    fault = ReviewRecord("fault", "ada", TASK, item=TASK, category="leak")

    kinds = by_kind_of_reader([ada, fault, ReviewRecord("read", "r1", TASK, by="language model")])

    assert kinds["person"].readers == {"ada": 1}
    assert kinds["language model"].readers == {"r1": 1}
    assert kinds["person"].read_twice == kinds["language model"].read_twice == 0

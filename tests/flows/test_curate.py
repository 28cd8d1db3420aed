"""From two actions to a sound bank: a scripted model writes, people decide, and nothing that is
done is done twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_LOGGING_LEVEL,
    PREFECT_LOGGING_TO_API_ENABLED,
    temporary_settings,
)
from sqlmodel import select

from evaluators.suites.tailor import private
from evaluators.suites.tailor.bank import read
from evaluators.suites.tailor.checks import findings
from evaluators.suites.tailor.curation.prompts import version
from evaluators.suites.tailor.curation.steps import CannotCurate
from flows.suites import tailor_curate
from flows.suites.tailor_curate import KEY, Curated, CurationOptions, run_here
from infra.db import migrate, session
from infra.settings import Settings
from infra.tables import CurationCall, Draft
from leaderboard.queries import review_queue
from tests.servers.prefect import PrefectServer
from tests.suites.tailor.curating import Script, speaking, tasks_of

pytestmark = pytest.mark.xdist_group("servers")
ACTIONS = ("cut", "clean")
NAME = "spring"


@pytest.fixture(scope="module", autouse=True)
def engine(prefect_server: PrefectServer) -> Iterator[None]:
    """Flows in this process report to the tests' Prefect server."""
    quiet = {PREFECT_LOGGING_LEVEL: "CRITICAL", PREFECT_LOGGING_TO_API_ENABLED: False}
    with temporary_settings({PREFECT_API_URL: prefect_server.api_url, **quiet}):
        yield


@pytest.fixture
def place(home: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A fresh database, and a key in the environment."""
    monkeypatch.setenv(KEY, "sk-canary-1b9f04")
    migrate(home.database)
    return home


def go(place: Settings, script: Script, **options: Any) -> Curated:
    """Run the flow once against a script."""
    chosen = {"actions": ACTIONS, "tasks": 2, "tries": 1, "folder": place.home / "bank", **options}
    with speaking(script.answer) as url:
        return run_here(place, NAME, url, "writer-1", CurationOptions(**chosen))


def choose_tools(place: Settings) -> None:
    """Round 1 by code: every task is kept, with the first two tools of each kind."""
    with session(place.database) as db:
        for draft in review_queue.queue(db, NAME, step=4, limit=1000):
            position = db.get_one(Draft, draft.id).position
            if draft.kind == "task" or position < 2:
                review_queue.keep(db, [draft.id], "Ada")
            else:
                review_queue.drop(db, [draft.id], "Ada", "two others are clearer")


def keep_everything(place: Settings) -> None:
    """Round 2 by code."""
    with session(place.database) as db:
        for task in review_queue.tasks(db, NAME):
            review_queue.keep_rest(db, NAME, task, 7, "Grace")


def test_two_actions_become_a_sound_bank_by_way_of_two_rounds_of_review(place: Settings) -> None:
    script = Script()

    first = go(place, script)
    choose_tools(place)
    second = go(place, script)
    keep_everything(place)
    third = go(place, script)

    assert (first.calls, first.tasks, len(first.open)) == (2 + 4 + 4 + 4, 0, 4)
    assert (second.calls, second.tasks, len(second.open)) == (4 + 4 + 20, 0, 4)
    assert (third.calls, third.tasks, third.open, third.findings) == (0, 4, (), ())
    assert script.counted() == {
        "tasks": 2,
        "unconventional": 4,
        "opposites": 4,
        "impossible": 4,
        "instances": 4,
        "common": 4,
        "rubrics": 20,
    }
    folder = place.home / "bank"
    bank = read(folder)
    assert (len(bank.actions), len(bank.tasks), len(bank.instances)) == (2, 4, 20)
    assert findings(bank) == ()
    assert len(private.samples(folder)) == 80
    calls, drafts = (
        [json.loads(line) for line in (folder / f"curation/{name}.jsonl").read_text().splitlines()]
        for name in ("calls", "drafts")
    )
    assert len(calls) == 2 + 4 + 4 + 4 + 4 + 4 + 20 and all(call["raw"] for call in calls)
    tools = [draft for draft in drafts if draft["kind"] == "tool"]
    assert Counter(tool["status"] for tool in tools) == {"kept": 16, "dropped": 16}
    assert all(tool["payload"]["reason"] for tool in tools)


def test_every_call_is_kept_with_its_model_prompt_version_temperature_and_raw_words(
    place: Settings,
) -> None:
    script = Script(faults={"tasks cut": ["prose"]})

    go(place, script, temperature=0.3)

    with session(place.database) as db:
        rows = list(db.exec(select(CurationCall)))
    assert {(row.model, row.temperature, row.status) for row in rows} == {("writer-1", 0.3, "done")}
    assert all(row.prompt_version == version(row.step) and row.raw.startswith("{") for row in rows)
    assert sorted(row.tries for row in rows if row.step == "tasks") == [1, 2]
    assert script.keys == {"Bearer sk-canary-1b9f04"}
    assert "sk-canary" not in repr(rows)


def test_a_run_that_stops_in_the_middle_goes_on_there_and_repeats_no_finished_call(
    place: Settings,
) -> None:
    script = Script()

    stopped = go(place, script, most_calls=5, concurrency=1)
    after = len(script.calls)
    whole = go(place, script)

    assert (stopped.calls, after) == (5, 5)
    assert stopped.unasked > 0
    assert whole.unasked == 0
    assert len(script.calls) == len(set(script.calls)) == 14


def test_a_crash_while_a_reply_is_stored_loses_that_reply_only(
    place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, store, stored = Script(), tailor_curate._store, list[str]()

    def break_at_the_fourth(*arguments: Any) -> None:
        stored.append(arguments[2].ask.subject)
        if len(stored) == 4:
            raise OSError("the disk is full")
        store(*arguments)

    monkeypatch.setattr(
        tailor_curate, "write_shard", tailor_curate.write_shard.with_options(retries=0)
    )
    monkeypatch.setattr(tailor_curate, "_store", break_at_the_fourth)
    with pytest.raises(OSError, match="the disk is full"):
        go(place, script, concurrency=1)
    finished = script.calls[:3]
    done = go(place, script)

    assert done.failed == done.unasked == 0
    assert [script.calls.count(call) for call in finished] == [1, 1, 1]
    assert set(script.calls[:4]) < set(script.calls)


def test_a_question_that_fails_is_visible_and_asked_again_only_when_told_to(
    place: Settings,
) -> None:
    script = Script(faults={"tasks cut": ["prose", "a key missing", "one less"]})

    first = go(place, script, concurrency=1)
    second = go(place, script)
    with session(place.database) as db:
        (failed,) = review_queue.unwritten(db, NAME)
    third = go(place, script, again=True)

    assert (first.failed, second.failed, second.calls) == (1, 1, 0)
    assert (failed.step, failed.status, failed.tries) == ("tasks", "failed", 3)
    assert "there are 1 tasks; exactly 2 are right" in failed.reason
    assert "Which tools do you like best?" in failed.raw
    assert (third.failed, len(third.open)) == (0, 4)


def test_a_fault_on_the_way_is_an_error_that_the_next_run_asks_again(place: Settings) -> None:
    script = Script(faults={"tasks cut": ["500"]})

    first = go(place, script, concurrency=1)
    second = go(place, script)

    assert (first.failed, len(first.open)) == (1, 2)
    assert (second.failed, len(second.open)) == (0, 4)


def test_an_edit_in_round_one_is_what_the_prompts_are_written_for(place: Settings) -> None:
    script = Script()
    (task,) = [
        row for row in tasks_of("cut", 2) if "serrated bread knife" in row["unconventional_tools"]
    ]
    go(place, script, actions=("cut",))
    choose_tools(place)
    with session(place.database) as db:
        tool = next(
            one
            for one in review_queue.queue(db, NAME, "kept")
            if one.words.get("tool") == "serrated bread knife"
        )
        review_queue.edit(db, tool.id, {"tool": "long bread knife"}, "Ada", "plainer")

    go(place, script, actions=("cut",))

    # Tasks are asked about at once, so which question arrives first says nothing.
    questions = zip(script.said, script.calls, strict=True)
    texts = [
        messages[1]["content"]
        for messages, call in questions
        if call == ("instances", task["task_id"])
    ]
    assert texts
    assert all(
        '"tool": "long bread knife"' in text and "serrated bread knife" not in text
        for text in texts
    )


def test_a_dropped_task_ends_there_and_three_tools_of_a_kind_are_one_too_many(
    place: Settings,
) -> None:
    script = Script()
    go(place, script, actions=("cut",))
    with session(place.database) as db:
        first, second = [one for one in review_queue.queue(db, NAME, step=4) if one.kind == "task"]
        review_queue.drop(db, [first.id], "Ada", "hard to see")
        tools = [
            one.id
            for one in review_queue.queue(db, NAME, task=second.task_id)
            if one.kind == "tool"
        ]
        review_queue.keep(db, [second.id, *tools], "Ada")

    done = go(place, script, actions=("cut",))

    reasons = {one.task_id: one.reason for one in done.open}
    assert reasons[first.task_id] == "the task was dropped"
    assert reasons[second.task_id] == "4 unconventional tools are kept; exactly 2 are right"
    assert script.counted()["instances"] == 0


def test_edits_and_drops_of_round_two_reach_the_bank_and_an_unsound_bank_is_not_written(
    place: Settings,
) -> None:
    script = Script()
    once = {"actions": ("cut",), "tasks": 1}
    script.count = 1
    go(place, script, **once)
    choose_tools(place)
    go(place, script, **once)
    with session(place.database) as db:
        drafts = review_queue.queue(db, NAME, step=7, limit=1000)
        (image,) = [one for one in drafts if one.where.endswith(".0 predictive_image_prompt")]
        scene = next(one for one in drafts if one.where.endswith(" scene"))
        leak = image.words["text"] + " The cut fails."
        review_queue.edit(db, image.id, {"text": leak}, "Grace", "a mistake, for the test")
        review_queue.edit(
            db, scene.id, {"text": "Does this place look like a garden?"}, "Grace", "shorter"
        )
    keep_everything(place)

    unsound = go(place, script, **once)
    with session(place.database) as db:
        review_queue.keep(db, [image.id], "Grace")
    sound = go(place, script, **once)

    assert [finding.problem for finding in unsound.findings] == [
        "the word 'fails' gives the outcome away"
    ]
    assert unsound.folder is None
    assert sound.folder == place.home / "bank"
    texts = [row["text"] for row in read(sound.folder).tasks[0]["questions"]]
    assert "Does this place look like a garden?" in texts


def test_what_the_checks_say_stands_beside_the_draft_for_the_reviewer(
    place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.suites.tailor import curating

    monkeypatch.setattr(curating, "SEEN", " It fails.")
    script = Script(count=1)
    once = {"actions": ("cut",), "tasks": 1}
    go(place, script, **once)
    choose_tools(place)
    go(place, script, **once)

    with session(place.database) as db:
        drafts = review_queue.queue(db, NAME, step=7, limit=1000)
    noted = {one.where.split()[1] for one in drafts if "gives the outcome away" in one.note}
    assert noted == {"predictive_image_prompt", "predictive_video_prompt"}


def test_what_cannot_work_is_said_before_anything_is_asked(place: Settings, tmp_path: Path) -> None:
    script = Script()

    with pytest.raises(CannotCurate, match="There is no action 'juggle'"):
        go(place, script, actions=("juggle",))
    with pytest.raises(CannotCurate, match="base_url must be"):
        run_here(place, NAME, "localhost", "writer-1", CurationOptions())
    with pytest.raises(ValueError, match="cannot be read"):
        go(place, script, graph=tmp_path / "nothing.csv")
    assert script.calls == []

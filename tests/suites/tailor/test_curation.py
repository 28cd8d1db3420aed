"""What is asked of a language model, what its replies may look like, and how often it may try."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from evaluators.judges.http.budget import Budget
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.judges.replies import BadReply
from evaluators.suites.tailor.bank import public
from evaluators.suites.tailor.curation.prompts import PROMPTS, version
from evaluators.suites.tailor.curation.replies import Instance
from evaluators.suites.tailor.curation.rubrics import Common
from evaluators.suites.tailor.curation.steps import (
    Chosen,
    CurationQuestion,
    Task,
    ask_common,
    ask_impossible,
    ask_instances,
    ask_opposites,
    ask_rubrics,
    ask_tasks,
    ask_unconventional,
)
from evaluators.suites.tailor.curation.writer import CallOutcome, Writer
from evaluators.suites.tailor.graph import everyday
from tests.suites.tailor.curating import REPLIES, Script, instances_of, speaking, tasks_of

KEY = "sk-canary-77aa12cd"


def config(url: str, **changes: Any) -> HttpJudgeConfig:
    """Settings for the scripted model, quick to lose patience."""
    quick = {
        "model": "m",
        "revision": "m",
        "api_key": KEY,
        "backoff": 0.01,
        "tries": 3,
        "deadline": 5.0,
    }
    return HttpJudgeConfig(base_url=url, **{**quick, **changes})


def asks() -> dict[str, CurationQuestion]:
    """One question of each kind, about the first task of the open bank."""
    action, row = public().actions[0], tasks_of("cut", 1)[0]
    names = [*Task.model_fields, "unconventional_tools", "opposite_tool_attributes"]
    ends = {one["tool"]: one["expected_outcome"] for one in instances_of(row)[3:]}
    chosen = Chosen.model_validate(
        {**{name: row[name] for name in names}, "impossible_tools": ends}
    )
    first = {
        "tasks": ask_tasks(action, 2),
        "unconventional": ask_unconventional(chosen, everyday()),
        "opposites": ask_opposites(chosen),
        "impossible": ask_impossible(chosen, chosen.opposite_tool_attributes, everyday()),
        "instances": ask_instances(chosen),
    }
    rows = proper("instances", first["instances"])["evaluation_instances"]
    instances = [Instance.model_validate(one) for one in rows]
    shared = ask_common(chosen, instances)
    common = Common.model_validate(proper("common", shared))
    own_ = ask_rubrics(chosen, 3, instances[3], common)
    return {**first, "common": shared, "rubrics": own_}


def proper(step: str, ask: CurationQuestion) -> dict[str, Any]:
    """The reply that the script has for a question."""
    return REPLIES[step](Script(), str(ask.messages[1]["content"]))[0]


def asked(
    script: Script, *steps: str, budget: Budget | None = None, **changes: Any
) -> list[CallOutcome]:
    """Put questions to a script and collect what came of them."""
    found: list[CallOutcome] = []
    with speaking(script.answer) as url:
        questions = asks()
        Writer(config(url, **changes), budget or Budget()).write(
            [questions[step] for step in steps], found.append
        )
    return found


@pytest.mark.parametrize("step", list(REPLIES))
def test_a_proper_reply_is_read_in_every_step(step: str) -> None:
    ask = asks()[step]
    reply = proper(step, ask)

    assert ask.read(json.dumps(reply)) == reply
    assert ask.read(f"Here it is.\n```json\n{json.dumps(reply)}\n```") == reply


def drop_a_motion_question(reply: dict[str, Any]) -> None:
    part = reply["descriptive_video_rubric"]["interaction_accuracy"]["motion_plausibility"]
    part["checklist_items"] = part["checklist_items"][:2]


def repeat_an_id(reply: dict[str, Any]) -> None:
    items = reply["predictive_image_rubric"]["interaction_accuracy"]["affordance_grounding"][
        "checklist_items"
    ]
    items[1]["id"] = items[0]["id"]


def change_a_shared_question(reply: dict[str, Any]) -> None:
    for rubric in reply.values():
        items = rubric["instruction_adherence"]["scene_validity"]["checklist_items"]
        items[0]["question"] = "Is this some other place?"


def give_every_prompt_its_own_result(reply: dict[str, Any]) -> None:
    items = reply["predictive_video_rubric"]["interaction_accuracy"]["state_change_correctness"][
        "checklist_items"
    ]
    items[0]["question"] = "Is something else the case?"


def spell_an_id_badly(reply: dict[str, Any]) -> None:
    items = reply["predictive_image_rubric"]["instruction_adherence"]["entity_completeness"][
        "checklist_items"
    ]
    items[0]["id"] = "Twine Visible"


WRONG: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("tasks", lambda reply: reply["tasks"].pop(), "there are 1 tasks; exactly 2"),
    ("tasks", lambda reply: reply["tasks"][0].pop("place"), "tasks.0.place: Field required"),
    ("tasks", lambda reply: reply["tasks"][0].update(place="at sea"), "'indoor' or 'outdoor'"),
    ("tasks", lambda reply: reply["tasks"][1].update(reply["tasks"][0]), "is there twice"),
    ("tasks", lambda reply: reply["tasks"][0].update(score=5), "Extra inputs are not permitted"),
    ("tasks", lambda reply: reply["tasks"][0].update(task_goal="a\x00b"), "should match pattern"),
    ("tasks", lambda reply: reply["tasks"][0].update(task_goal="half \ud83d"), "valid string"),
    (
        "unconventional",
        lambda reply: reply.update(unconventional_tools=reply["unconventional_tools"][:2]),
        "at least 4 items",
    ),
    (
        "unconventional",
        lambda reply: reply["unconventional_tools"][0].update(tool="Garden Scissors"),
        "is the usual tool",
    ),
    ("unconventional", lambda reply: reply.update(unconventional_tools="a knife"), "valid list"),
    (
        "impossible",
        lambda reply: reply["impossible_tools"][0].pop("expected_outcome"),
        "impossible_tools.0.expected_outcome: Field required",
    ),
    (
        "impossible",
        lambda reply: reply["impossible_tools"][1].pop("reason"),
        "impossible_tools.1.reason: Field required",
    ),
    ("opposites", lambda reply: reply["opposite_tool_attributes"].clear(), "at least 2 items"),
    (
        "instances",
        lambda reply: reply["evaluation_instances"].pop(),
        "there are 4 instances; exactly 5",
    ),
    (
        "instances",
        lambda reply: reply["evaluation_instances"].reverse(),
        "instance 1 must have tool_type 'regular'",
    ),
    (
        "instances",
        lambda reply: reply["evaluation_instances"][1].update(tool="axe"),
        "tool 'serrated bread knife'",
    ),
    (
        "common",
        lambda reply: reply["scene_validity"]["checklist_items"].pop(),
        "2 questions; 3 to 6",
    ),
    (
        "rubrics",
        lambda reply: reply.pop("predictive_video_rubric"),
        "predictive_video_rubric: Field required",
    ),
    ("rubrics", drop_a_motion_question, "motion_plausibility has 2 questions; 3 to 6"),
    ("rubrics", repeat_an_id, "is there twice"),
    ("rubrics", change_a_shared_question, "must begin with the given questions"),
    ("rubrics", give_every_prompt_its_own_result, "must ask the same as predictive_image_rubric"),
    ("rubrics", spell_an_id_badly, "should match pattern"),
]


@pytest.mark.parametrize(("step", "spoil", "said"), WRONG)
def test_a_reply_of_another_form_is_refused_with_words_the_model_can_use(
    step: str, spoil: Callable[[dict[str, Any]], Any], said: str
) -> None:
    ask = asks()[step]
    reply = deepcopy(proper(step, ask))
    spoil(reply)

    with pytest.raises(BadReply) as refused:
        ask.read(json.dumps(reply))

    assert said in str(refused.value)


def test_the_prompts_ask_for_what_the_specification_wants() -> None:
    said = {step: str(ask.messages[1]["content"]) for step, ask in asks().items()}

    assert "exactly 2 objects" in said["tasks"] and "clip of five seconds" in said["tasks"]
    assert "kitchen scissors: sharp" in said["unconventional"]
    opposites = asks()["impossible"].content["opposite_tool_attributes"]
    listed = f'"opposite_tool_attributes": [\n  "{opposites[0]}"'
    assert listed in said["impossible"] and listed not in said["opposites"]
    assert "garden scissors" in said["instances"] and "peeled banana" in said["instances"]
    assert "Are exactly two wooden stakes visible?" in said["rubrics"]
    assert not any("$" in text for text in said.values())


def test_a_version_changes_with_every_word_and_is_the_same_otherwise() -> None:
    versions = {
        file.name.removesuffix(".txt"): version(file.name.removesuffix(".txt"))
        for file in PROMPTS.iterdir()
    }

    assert len(set(versions.values())) == len(versions)
    assert all(len(digest) == 64 for digest in versions.values())


def test_a_question_is_the_same_when_its_content_is() -> None:
    again, other = asks(), ask_tasks(public().actions[1], 2)

    assert {step: ask.key for step, ask in asks().items()} == {
        step: ask.key for step, ask in again.items()
    }
    assert other.key != again["tasks"].key
    assert ask_tasks(public().actions[0], 3).key != again["tasks"].key


@pytest.mark.parametrize(
    "fault", ["prose", "two objects", "cut short", "a key missing", "a key too many", "one less"]
)
def test_a_bad_reply_is_told_what_is_wrong_and_asked_again(fault: str) -> None:
    script = Script(faults={"tasks cut": [fault]})

    (found,) = asked(script, "tasks")

    assert (found.status, found.tries, len(script.calls)) == ("done", 2, 2)
    corrected = script.said[1]
    assert [message["role"] for message in corrected] == ["system", "user", "assistant", "user"]
    assert corrected[3]["content"].startswith("This reply cannot be used: ")


def test_after_three_bad_replies_the_question_has_failed_and_every_word_is_kept() -> None:
    script = Script(faults={"tasks cut": ["prose", "one less", "numbers for texts"]})

    (found,) = asked(script, "tasks")

    assert (found.status, found.tries, found.payload) == ("failed", 3, {})
    assert "tasks.0: Input should be" in found.reason
    assert "Which tools do you like best?" in found.raw and '{"tasks": [7, 7]}' in found.raw


def test_a_busy_endpoint_is_tried_again_and_a_closed_one_is_an_error_without_the_key() -> None:
    busy = Script(faults={"tasks cut": ["503", "429"]})
    closed = Script(faults={"tasks cut": ["401"]})

    (first,), (second,) = asked(busy, "tasks"), asked(closed, "tasks")

    assert (first.status, len(busy.calls)) == ("done", 3)
    assert (second.status, len(closed.calls)) == ("error", 1)
    assert "HTTP 401" in second.reason and KEY not in repr(second)


def test_the_budget_stops_before_a_call_and_not_after_it() -> None:
    script = Script()
    budget = Budget(calls=2)

    found = asked(script, "tasks", "unconventional", "impossible", budget=budget, concurrency=1)

    assert sorted(one.status for one in found) == ["budget", "done", "done"]
    assert len(script.calls) == 2


def test_tokens_and_cost_are_counted_over_all_tries() -> None:
    script = Script(faults={"tasks cut": ["prose"]})

    (found,) = asked(script, "tasks", price_in=10.0, price_out=20.0)

    assert (found.tokens_in, found.tokens_out) == (200, 100)
    assert found.cost == pytest.approx(0.004)

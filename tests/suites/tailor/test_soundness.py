"""Each check on rubrics finds the fault it is there for; what is settled in the open bank has
none."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators.suites.tailor import checks
from evaluators.suites.tailor.bank import Bank, RubricItem, bank_of, public, rubric
from evaluators.suites.tailor.soundness import dependencies, repetition, seeing, tools
from evaluators.suites.tailor.soundness.whole import (
    RUBRIC_CHECKS,
    report,
    rubric_findings,
)
from evaluators.suites.tailor.upkeep.records import records, settled_tasks

Row = dict[str, Any]
UNSETTLED = 0
"""So many findings there are at most in the tasks that no third reader has closed yet."""


def instance(tool_type: str, tool: str, outcome: str, questions: list[Row]) -> Row:
    prompt = f"Someone in a garden sets {tool} to a brown rope to cut it. Show it all."
    table = {"sharp": "no: soft all over"} if tool_type == "impossible" else {"sharp": "yes: steel"}
    table["sharp"] += " throughout"
    kinds = ("predictive_image", "predictive_video", "descriptive_image", "descriptive_video")
    return {
        "tool_type": tool_type,
        "tool": tool,
        "expected_outcome": outcome,
        "attributes": table,
        **{f"{kind}_prompt": prompt for kind in kinds},
        "questions": questions,
    }


def asks(id: str, part: str, text: str, **more: Any) -> Row:
    return {"id": id, "part": part, "text": text, **more}


def sound() -> tuple[Row, Row, Row]:
    """A task with one fit and one unfit tool, of which no check finds anything."""
    task = {
        "task_id": "cut_rope",
        "task_goal": "Cut a rope",
        "expected_outcome": "The rope is in two pieces.",
        "required_tool_attributes": ["sharp"],
        "questions": [
            asks("rope", "entity", "Is a rope visible?"),
            asks("rope_brown", "attribute", "Is the rope brown?", parent="rope"),
        ],
    }
    fit = instance(
        "regular",
        "a knife",
        "The rope is in two pieces.",
        [
            asks("knife", "entity", "Is a knife visible?"),
            asks("two_ends", "state_change", "Has the rope two ends here?", parent="rope"),
            asks("edge_on", "affordance", "Is the edge at the gap?", parent="knife"),
            asks("gap_grows", "motion", "Does the gap widen under the edge?", parent="edge_on"),
        ],
    )
    unfit = instance(
        "impossible",
        "a banana",
        "The rope stays whole and mush clings to it.",
        [
            asks("banana", "entity", "Is a banana visible?"),
            asks("mush", "affordance", "Is fruit on the rope?", parent="rope", attempt=True),
            asks("rope_whole", "state_change", "Is the rope one piece?", parent="mush"),
            asks("dents", "motion", "Does the fruit dent at the rope?", parent="mush"),
        ],
    )
    return task, fit, unfit


def bank(task: Row, *instances: Row) -> Bank:
    return bank_of([], [{"action_name": "cut", **task, "instances": list(instances)}])


def problems(check: checks.Check, *rows: Row) -> list[str]:
    return [f"{finding.where}: {finding.problem}" for finding in check(bank(*rows))]


@pytest.mark.parametrize("check", RUBRIC_CHECKS, ids=lambda check: check.__name__)
def test_a_sound_rubric_has_no_finding(check: checks.Check) -> None:
    assert problems(check, *sound()) == []


def spoiled(index: int, question: int, **changes: Any) -> tuple[Row, ...]:
    """The sound task with one question changed: of the task, the fit or the unfit tool."""
    rows = sound()
    rows[index]["questions"][question] |= changes
    return rows


FAULTS: list[tuple[checks.Check, tuple[Row, ...], str]] = [
    (dependencies.question_rows, spoiled(0, 0, part="colour"), "the part 'colour' is none of"),
    (dependencies.question_rows, spoiled(0, 0, **{"for": "stills"}), "'for' is 'stills'"),
    (dependencies.question_rows, spoiled(0, 0, child="x"), "the key 'child' is none of"),
    (dependencies.question_rows, spoiled(2, 1, attempt="yes"), "'attempt' is true"),
    (dependencies.parents, spoiled(1, 1, parent="hemp"), "'hemp' of 'two_ends' is not asked"),
    (dependencies.parents, spoiled(0, 0, parent="rope_brown"), "of 'rope' close a circle"),
    (dependencies.parents, spoiled(0, 0, **{"for": "image"}), "is not asked of this prompt"),
    (dependencies.rootless, spoiled(1, 1, parent=""), "cut_rope.0 two_ends: no parent"),
    (dependencies.details, spoiled(1, 1, **{"for": "descriptive image"}), "so a detail"),
    (dependencies.attempts, spoiled(2, 1, attempt=False), "no question on the interaction"),
    (dependencies.attempts, spoiled(2, 2, parent="rope"), "'rope_whole' does not hang on an"),
    (dependencies.attempts, spoiled(1, 2, attempt=True), "only impossible ones"),
    (dependencies.idle_scenes, spoiled(2, 1, attempt=False), "gets an interaction accuracy of 100"),
    (
        repetition.asked_twice,
        spoiled(1, 1, text="Is the rope here brown?"),
        "of its words with rope_brown",
    ),
    (repetition.asked_twice, spoiled(0, 1, text="Is the rope visible?"), "no more than its parent"),
    (seeing.frames_suffice, spoiled(1, 3, text="Does the gap open twice?"), "eight frames"),
    (seeing.frames_suffice, spoiled(1, 2, text="Is the edge moving?"), "not seen in one still"),
    (seeing.atomic, spoiled(1, 1, text="Are knife and rope apart?"), "two things in one"),
    (seeing.positive, spoiled(1, 1, text="Is there no rope left?"), "by what is not there"),
    (seeing.empty, spoiled(1, 1, text="Does the rope look realistic?"), "any output meets it"),
]


@pytest.mark.parametrize(
    ("check", "rows", "what"), FAULTS, ids=[f"{f[0].__name__}: {f[2]}" for f in FAULTS]
)
def test_a_planted_fault_in_a_rubric_is_found(
    check: checks.Check, rows: tuple[Row, ...], what: str
) -> None:
    assert any(what in problem for problem in problems(check, *rows)), problems(check, *rows)


def test_two_questions_of_one_parent_that_mean_the_same_are_found() -> None:
    task, fit, unfit = sound()
    unfit["questions"].append(
        asks("unbroken", "state_change", "Does the line look unbroken?", parent="mush")
    )
    unfit["questions"][2]["text"] = "Is the rope whole?"

    [problem] = problems(repetition.asked_twice, task, fit, unfit)

    assert "asks of 'mush' what rope_whole asks (whole)" in problem


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({}, "no word on 'sharp'"),
        ({"sharp": "yes"}, "write 'yes: why'"),
        ({"sharp": "no: it is blunt"}, "a tool that does the job has 'sharp'"),
        ({"sharp": "yes: steel edge", "red": "yes: it is"}, "'red' is not required"),
    ],
)
def test_a_tool_says_of_each_required_attribute_why_it_has_it(
    table: dict[str, str], what: str
) -> None:
    task, fit, unfit = sound()
    fit["attributes"] = table

    assert any(what in one for one in problems(tools.attribute_tables, task, fit, unfit))


def test_an_impossible_tool_lacks_something() -> None:
    task, fit, unfit = sound()
    unfit["attributes"] = {"sharp": "yes: oddly enough"}

    [problem] = problems(tools.attribute_tables, task, fit, unfit)

    assert "lacks at least one attribute" in problem


def test_an_instance_leaves_out_what_its_task_asks_and_a_scope_says_for_which_prompts() -> None:
    task, fit, _ = sound()
    fit |= {"without": ["rope_brown"], "index": 0}
    fit["questions"][0]["for"] = "descriptive video"

    ids = {
        (setting, modality): [item.id for item in rubric(task, fit, setting, modality)]
        for setting in ("predictive", "descriptive")
        for modality in ("image", "video")
    }

    assert ids["predictive", "image"] == ["rope", "two_ends", "edge_on"]
    assert ids["descriptive", "video"] == ["rope", "knife", "two_ends", "edge_on", "gap_grows"]


def test_what_hangs_on_an_attempt_is_lost_to_an_idle_scene() -> None:
    tried = RubricItem("tried", "affordance", "?", attempt=True)
    below = RubricItem("below", "state_change", "?", parent="middle")
    middle = RubricItem("middle", "affordance", "?", parent="tried")
    apart = RubricItem("apart", "state_change", "?")

    assert dependencies.idle_accuracy([tried, middle, below]) == 0
    assert dependencies.idle_accuracy([tried, middle, below, apart]) == 25
    assert dependencies.idle_accuracy([apart]) == 100


def test_what_is_settled_in_the_open_bank_has_no_finding_and_the_rest_grows_no_worse() -> None:
    settled = settled_tasks(records())
    findings = list(rubric_findings(public()))
    places = [finding.where.split()[0].split(".")[0] for finding in findings]

    assert [
        finding for finding, place in zip(findings, places, strict=True) if place in settled
    ] == []
    assert len(findings) <= UNSETTLED


def test_the_report_on_one_task_leaves_the_others_out() -> None:
    whole = report(public(), checks.public_findings)
    own = whole.about("cut_clay_brick")

    places = [finding.where for finding in (*own.faults, *own.hints)]
    assert all(place.startswith("cut_clay_brick") for place in places)
    assert len(own.faults) < max(len(whole.faults), 1)

"""Each check finds the fault it is there for, and finds nothing else in a sound bank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evaluators.suites.tailor import checks, wording
from evaluators.suites.tailor.bank import samples
from tests.suites.tailor.banks import Edit, Rows, bank

Row = dict[str, Any]


def on_instance(change: Callable[[Row], object], number: int = 0) -> Edit:
    return lambda rows: _done(change(rows["instances"][number]))


def on_task(change: Callable[[Row], object], number: int = 0) -> Edit:
    return lambda rows: _done(change(rows["tasks"][number]))


def _done(_result: object) -> None:
    return None


def set_to(key: str, value: Any) -> Callable[[Row], object]:
    return lambda row: row.__setitem__(key, value)


def of_part(row: Row, part: str) -> list[Row]:
    return [question for question in row["questions"] if question["part"] == part]


def keep_none_of(part: str) -> Callable[[Row], None]:
    def keep(row: Row) -> None:
        for question in of_part(row, part):
            row["questions"].remove(question)

    return keep


def question(text: str, part: str = "motion") -> Edit:
    return on_instance(lambda row: of_part(row, part)[0].__setitem__("text", text))


def added(part: str, *texts: str) -> Callable[[Row], object]:
    return lambda row: row["questions"].extend(
        {"id": f"more_{number}", "part": part, "text": text} for number, text in enumerate(texts)
    )


def say(text: str) -> Edit:
    return on_instance(
        lambda row: row.__setitem__(
            "predictive_image_prompt", f"{row['predictive_image_prompt']} {text}"
        )
    )


def copy_prompt(rows: Rows) -> None:
    rows["instances"][7]["predictive_image_prompt"] = rows["instances"][0][
        "predictive_image_prompt"
    ]


def copy_prompt_but_one_word(rows: Rows) -> None:
    text = rows["instances"][0]["predictive_image_prompt"]
    rows["instances"][7]["predictive_image_prompt"] = f"{text} Please."


def say_the_outcome(rows: Rows) -> None:
    row = rows["instances"][0]
    row["predictive_video_prompt"] += " " + row["expected_outcome"]


def repeat_a_task(rows: Rows) -> None:
    for key in ("task_goal", "original_tool", "expected_outcome"):
        rows["tasks"][1][key] = rows["tasks"][0][key]


FAULTS: list[tuple[checks.Check, Edit, str]] = [
    (checks.fields, on_task(lambda row: row.pop("task_goal")), "'task_goal' is not a text"),
    (checks.fields, on_task(set_to("questions", "Is it?")), "'questions' is not a list"),
    (checks.fields, on_task(set_to("impossible_tools", "foil")), "is not a list of texts"),
    (checks.fields, on_instance(set_to("questions", [7])), "question 1 is not an object"),
    (checks.fields, on_instance(added("motion", "")), "'text' of question 14 is not a text"),
    (checks.ids, on_task(set_to("task_id", "saw_wood")), "a task's id begins with its action"),
    (checks.ids, on_task(set_to("action_name", "saw")), "there is no action 'saw'"),
    (checks.ids, on_task(set_to("place", "garden")), "the place is 'garden'"),
    (checks.ids, lambda rows: rows["tasks"].append(rows["tasks"][0]), "this id stands twice"),
    (checks.ids, on_instance(set_to("index", 1)), "this id stands twice"),
    (checks.ids, on_instance(set_to("task_id", "cut_nothing")), "there is no task 'cut_nothing'"),
    (checks.tools, lambda rows: _done(rows["instances"].pop()), "five instances, 0 to 4"),
    (checks.tools, on_instance(set_to("tool_type", "impossible")), "five instances, 0 to 4"),
    (
        checks.tools,
        on_instance(set_to("tool", "chainsaw")),
        "'chainsaw' is none of the task's regular tools",
    ),
    (checks.tools, on_instance(set_to("predictive_image_prompt", "Show it.")), "is not named"),
    (
        checks.rubrics,
        on_instance(keep_none_of("state_change")),
        "0 questions on state_change_correctness",
    ),
    (
        checks.rubrics,
        on_instance(added("motion", *["Is it?"] * 4)),
        "7 questions on motion_plausibility",
    ),
    (
        checks.rubrics,
        on_instance(lambda row: added("motion", of_part(row, "entity")[0]["text"])(row)),
        "asked twice",
    ),
    (
        wording.leaks,
        say("It works, and finally it fails."),
        "the word 'finally' gives the outcome away",
    ),
    (wording.leaks, say_the_outcome, "it says the expected outcome"),
    (wording.labels, say("An impossible tool."), "it names the label 'impossible'"),
    (
        wording.labels,
        question("Does the unconventional tool move?"),
        "it names the label 'unconventional'",
    ),
    (
        wording.lengths,
        on_instance(set_to("predictive_image_prompt", "Show scissors.")),
        "2 words; 12 to 70",
    ),
    (
        wording.duplicates,
        copy_prompt,
        "the same text as cut_garden_twine.0 predictive_image_prompt",
    ),
    (wording.duplicates, copy_prompt_but_one_word, "of its words with cut_garden_twine.0"),
    (wording.repeated_tasks, repeat_a_task, "of their words with those of cut_garden_twine"),
    (wording.question_form, question("Is the knife sharp"), "no question mark"),
    (wording.question_form, question("Why does the knife move?"), "not a yes/no question"),
    (
        wording.question_form,
        question("Is the knife sharp and is the twine cut?"),
        "two checks in one",
    ),
    (
        wording.question_form,
        question("Does the woman want to cut the twine?"),
        "asks for what cannot be seen",
    ),
    (wording.question_form, question("Is it?"), "2 words, not 4 to 25"),
]


@pytest.mark.parametrize(
    ("check", "edit", "what"), FAULTS, ids=[f"{f[0].__name__}: {f[2]}" for f in FAULTS]
)
def test_a_planted_fault_is_found(check: checks.Check, edit: Edit, what: str) -> None:
    assert list(check(bank())) == []

    found = [finding.problem for finding in check(bank(edit))]

    assert any(what in one for one in found), found


def test_motion_in_a_picture_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = next(sample for sample in samples() if sample.facets.modality == "video")
    picture = replace(clip, facets=replace(clip.facets, modality="image"))
    motions = sum(question.part == "motion_plausibility" for question in clip.questions)
    monkeypatch.setattr(checks, "samples_of", lambda _bank: (picture,))

    [finding] = checks.rubrics(bank())

    assert motions
    assert finding.problem == f"{motions} questions on motion_plausibility; none are right"


def test_a_bank_of_another_size_is_found() -> None:
    found = [
        finding.problem
        for finding in checks.totals(bank(lambda rows: _done(rows["actions"].pop())))
    ]

    assert found[:4] == ["17 actions; 18 are right", "3 tasks; 80 are right", *found[2:4]]
    assert "12 regular prompts; 320 are right" in found


def test_too_many_tasks_of_one_action_and_too_many_indoors_are_found() -> None:
    def move_indoors(rows: Rows) -> None:
        for row in rows["tasks"]:
            row.update(place="indoor", action_name="cut")

    found = [finding.problem for finding in checks.balance(bank(move_indoors))]

    assert "3 tasks; 4 or 5 are right" in found
    assert "100% of the tasks are indoors; about half is right" in found


def test_rows_that_lack_a_field_are_told_alone() -> None:
    found = checks.public_findings(bank(on_task(lambda row: row.pop("task_goal"))))

    assert [finding.where for finding in found] == ["tasks/cut_garden_twine.json"]

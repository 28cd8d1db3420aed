"""What decisions leave of a task, and the file it ends in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluators.suites.tailor.bank import read
from evaluators.suites.tailor.checks import findings
from evaluators.suites.tailor.curation import steps
from evaluators.suites.tailor.curation.bank import Rows, as_written, assemble, fold
from evaluators.suites.tailor.curation.replies import (
    Contrary,
    Impossible,
    Instance,
    Unconventional,
)
from evaluators.suites.tailor.curation.review import (
    BankDraft,
    DraftDecision,
    TaskDrafts,
    UnfinishedTask,
    choose,
    first_round,
    second_round,
)
from evaluators.suites.tailor.curation.rubrics import SHARED, Common, Rubrics
from evaluators.suites.tailor.curation.steps import Chosen, Task
from evaluators.suites.tailor.graph import own
from evaluators.suites.tailor.task_files import write
from tests.suites.tailor.banks import small
from tests.suites.tailor.curating import REPLIES, Script

ACTION = small().actions[0]


def written() -> TaskDrafts:
    """The first task of the open bank as a model would have written it."""
    task, drafts = first()
    chosen = choose(task, drafts, decided(drafts, keep=choice(drafts)))
    assert isinstance(chosen, Chosen)
    asked = steps.ask_instances(chosen)
    rows = [
        Instance.model_validate(one) for one in reply("instances", asked)["evaluation_instances"]
    ]
    common = Common.model_validate(reply("common", steps.ask_common(chosen, rows)))
    context = {"common": {part: getattr(common, part).questions for part in SHARED}}
    asks = [steps.ask_rubrics(chosen, at, row, common) for at, row in enumerate(rows)]
    rubrics = [Rubrics.model_validate(reply("rubrics", ask), context=context) for ask in asks]
    sources = {"instances": "i", "common": "c", **{f"rubrics {at}": "r" for at in range(len(rows))}}
    return TaskDrafts(chosen, rows, common, rubrics, sources)


def first() -> tuple[Task, list[BankDraft]]:
    """A task with the drafts of round 1."""
    task = steps.tasks_of(ACTION, reply("tasks", steps.ask_tasks(ACTION, 2)))[0]
    context = {"original_tool": task.original_tool}
    found = Unconventional.model_validate(
        reply("unconventional", steps.ask_unconventional(task, own())), context=context
    )
    contrary = Contrary.model_validate(reply("opposites", steps.ask_opposites(task)))
    ask = steps.ask_impossible(task, contrary.opposite_tool_attributes, own())
    other = Impossible.model_validate(reply("impossible", ask), context=context)
    return task, first_round(
        task, {"tasks": "t", "unconventional": "u", "impossible": "i"}, found, contrary, other
    )


def reply(step: str, ask: steps.CurationQuestion) -> dict[str, Any]:
    """What the script answers."""
    return REPLIES[step](Script(), str(ask.messages[1]["content"]))[0]


def choice(drafts: list[BankDraft]) -> set[str]:
    """The task and the first two tools of each kind."""
    return {draft.key for draft in drafts if draft.position < 2}


def decided(drafts: list[BankDraft], keep: set[str]) -> dict[str, DraftDecision]:
    """Keep these and drop the others."""
    return {
        one.key: DraftDecision("kept" if one.key in keep else "dropped", one.payload)
        for one in drafts
    }


def test_a_task_that_is_kept_whole_is_the_bank_s_own_task_again() -> None:
    found = written()
    drafts = second_round(found)

    rows = as_written(found, drafts)

    original = next(task for task in small().tasks if task["task_goal"] == rows.task["task_goal"])
    hidden = ("task_id", "questions")
    assert {key: rows.task[key] for key in original if key not in hidden} == {
        key: value for key, value in original.items() if key not in hidden
    }
    assert [row["text"] for row in rows.task["questions"]] == [
        row["text"] for row in original["questions"]
    ]
    expected = [row for row in small().instances if row["task_id"] == original["task_id"]]
    assert [{row["text"] for row in one["questions"]} for one in rows.instances] == [
        {row["text"] for row in one["questions"]} for one in expected
    ]


def test_a_bank_is_a_file_a_task_and_reads_and_check_like_the_open_one(tmp_path: Path) -> None:
    found = written()
    rows = as_written(found, second_round(found))

    write(assemble(small().actions, [rows]), tmp_path)

    bank = read(tmp_path)
    assert [row["action_name"] for row in bank.actions] == ["cut"]
    assert findings(bank) == ()
    [file] = (tmp_path / "tasks").iterdir()
    assert file.name == f"{rows.task['task_id']}.json"


def test_a_dropped_question_is_gone_and_a_dropped_prompt_takes_its_task_along() -> None:
    found = written()
    drafts = second_round(found)
    question = next(draft for draft in drafts if draft.where.endswith(".2 motion"))
    prompt = next(draft for draft in drafts if draft.where.endswith(".2 descriptive_video_prompt"))
    everything = {draft.key for draft in drafts}

    less = fold(found, drafts, decided(drafts, everything - {question.key}))
    none = fold(found, drafts, decided(drafts, everything - {prompt.key}))

    assert isinstance(less, Rows)
    texts = [row["text"] for row in less.instances[2]["questions"]]
    assert question.payload["text"] not in texts
    assert isinstance(none, UnfinishedTask) and none.dropped
    assert "descriptive_video_prompt was dropped" in none.reason


def test_nothing_goes_on_while_a_draft_waits() -> None:
    found = written()
    drafts = second_round(found)
    some = decided(drafts[:-1], {draft.key for draft in drafts})

    waiting = fold(found, drafts, some)

    assert waiting == UnfinishedTask(
        found.task.task_id, f"1 of {len(drafts)} drafts wait for a decision"
    )


def test_other_words_are_another_draft_so_no_decision_is_carried_over() -> None:
    found = written()
    keys = {draft.key for draft in second_round(found)}
    edited = found.task.model_copy(update={"task_goal": "Cut a wet rope on a pier"})

    assert keys == {draft.key for draft in second_round(found)}
    other = TaskDrafts(edited, found.instances, found.common, found.rubrics, found.sources)
    assert keys.isdisjoint(draft.key for draft in second_round(other))


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"tool": "garden scissors"}, "two of the five tools are the same"),
        ({"tool": ""}, "an edit is not valid"),
    ],
)
def test_an_edit_that_breaks_a_task_is_told_and_stops_it(
    payload: dict[str, str], said: str
) -> None:
    task, drafts = first()
    decisions = decided(drafts, choice(drafts))
    tool = next(draft for draft in drafts if draft.field == "unconventional_tools")
    decisions[tool.key] = DraftDecision("edited", payload)

    found = choose(task, drafts, decisions)

    assert isinstance(found, UnfinishedTask) and said in found.reason

"""What readers write down is checked as it is read, and their agreement is counted by prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluators.suites.tailor.bank import public
from evaluators.suites.tailor.upkeep.reading import report
from evaluators.suites.tailor.upkeep.records import (
    CATEGORIES,
    BadRecord,
    prompts_of,
    records,
    settled_tasks,
)


def written(folder: Path, *rows: dict[str, Any], name: str = "cut_rope.r1.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def read(reader: str, task: str = "cut_rope") -> dict[str, str]:
    return {"kind": "read", "task": task, "reader": reader, "by": "language model"}


def fault(reader: str, item: str, category: str = "leak") -> dict[str, str]:
    return {"kind": "fault", "item": item, "reader": reader, "category": category, "note": "x"}


def test_agreement_is_counted_over_the_prompts_that_two_have_read(tmp_path: Path) -> None:
    written(tmp_path, read("a"), fault("a", "cut_rope.3"), fault("a", "cut_rope.0", "physics"))
    written(tmp_path, read("b"), fault("b", "cut_rope.3.predictive.image"), name="cut_rope.b.jsonl")
    written(tmp_path, read("a", "tie_bag"), name="tie_bag.a.jsonl")

    found = report(records(tmp_path))
    leak = next(row for row in found.agreement if row.category == "leak")

    assert (found.read_twice, found.readers) == (1, {"a": 2, "b": 1})
    assert (leak.prompts, leak.first, leak.second, leak.both) == (20, 4, 1, 1)
    assert leak.kappa == pytest.approx((17 / 20 - 0.77) / (1 - 0.77))
    assert [row.category for row in found.agreement] == list(CATEGORIES)


def test_nobody_found_anything_is_no_kappa(tmp_path: Path) -> None:
    written(tmp_path, read("a"), read("b"))

    assert {row.kappa for row in report(records(tmp_path)).agreement} == {None}


def test_what_was_settled_is_counted_and_a_closed_task_is_known(tmp_path: Path) -> None:
    settled = {**fault("c", "cut_rope.3"), "kind": "settled", "decision": "changed"}
    closed = {**read("c"), "kind": "closed"}
    written(tmp_path, settled, closed)

    found = records(tmp_path)

    assert settled_tasks(found) == {"cut_rope"}
    assert report(found).decisions["leak"] == {"changed": 1, "dropped": 0, "kept": 0}
    assert report(found).closed == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"kind": "seen"}, "'kind' is one of"),
        ({**read("a"), "by": "robot"}, "'by' is 'robot'; right is language model, person"),
        ({**fault("a", "cut_rope"), "category": "ugly"}, "'category' is 'ugly'"),
        ({"kind": "fault", "item": "cut_rope", "reader": "a"}, "needs 'category', a text"),
        ({**read("a"), "verdict": "fine"}, "'verdict' is no key of a 'read' record"),
        ({**fault("a", "x"), "kind": "settled", "decision": "gone"}, "'decision' is 'gone'"),
    ],
)
def test_a_line_that_is_no_record_is_refused_by_its_place(
    tmp_path: Path, row: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadRecord, match=f"cut_rope.r1.jsonl line 1: .*{said}"):
        records(written(tmp_path, row))


def test_a_line_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{no\n", "utf-8")

    with pytest.raises(BadRecord, match="a.jsonl line 1 is not JSON"):
        records(tmp_path)


def test_the_open_bank_s_records_are_about_its_own_items() -> None:
    tasks = {task["task_id"] for task in public().tasks}

    assert {record.task for record in records()} <= tasks
    for record in records():
        assert not record.item or prompts_of(record.item)[0].split(".")[0] in tasks

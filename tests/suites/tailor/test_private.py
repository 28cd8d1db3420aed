"""A private bank loads when it is sound and new, and its ids can always be told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluators.suites.tailor import private
from evaluators.suites.tailor.bank import public, samples
from tests.suites.tailor import banks


def own(tasks: int = 2) -> banks.Rows:
    """Rows that the open bank does not have: other ids, and a word more in each prompt."""
    found = banks.rows(tasks)
    for row in found["tasks"] + found["instances"]:
        row["task_id"] += "_own"
    for row in found["instances"]:
        for key in row:
            if key.endswith("_prompt"):
                row[key] += " Seen from the left."
    return found


def test_a_private_bank_gives_samples_whose_ids_are_marked(tmp_path: Path) -> None:
    found = private.samples(banks.write(tmp_path, own()))

    assert len(found) == 2 * 5 * 4
    assert all(
        private.is_private(sample.id) and private.is_private(sample.cluster) for sample in found
    )
    assert found[0].id == "private.cut_garden_twine_own.0.predictive.image"


def test_no_open_sample_looks_private() -> None:
    assert not any(private.is_private(sample.id) for sample in samples())


def test_the_open_bank_cannot_be_mounted_as_the_private_one(tmp_path: Path) -> None:
    with pytest.raises(private.UnsoundBank, match="the open bank has a task of this id"):
        private.load(banks.write(tmp_path, banks.rows(2, public())))


def test_open_prompts_under_other_ids_are_refused_too(tmp_path: Path) -> None:
    copied = banks.rows(1, public())
    for row in copied["tasks"] + copied["instances"]:
        row["task_id"] += "_own"

    with pytest.raises(private.UnsoundBank, match="20 findings.*the open bank has this prompt"):
        private.load(banks.write(tmp_path, copied))


def test_every_finding_of_an_unsound_bank_is_told(tmp_path: Path) -> None:
    spoiled = own()
    spoiled["instances"][0]["tool"] = "chainsaw"
    spoiled["instances"][1]["questions"][-1]["text"] = "Why?"

    with pytest.raises(private.UnsoundBank, match="'chainsaw' is none.*not a yes/no question"):
        private.load(banks.write(tmp_path, spoiled))


def test_a_row_without_a_field_is_told_rather_than_raised(tmp_path: Path) -> None:
    folder = banks.write(tmp_path, own())
    file = folder / "tasks" / "cut_garden_twine_own.json"
    row = json.loads(file.read_text("utf-8"))
    del row["task_id"]
    file.write_text(json.dumps(row), "utf-8")

    with pytest.raises(private.UnsoundBank, match="'task_id' is not a text"):
        private.load(folder)


def test_a_folder_without_the_files_or_with_other_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(private.UnsoundBank, match="has no actions.jsonl, tasks"):
        private.load(tmp_path)

    folder = banks.write(tmp_path, own())
    (folder / "tasks" / "cut_other.json").write_text("{no json}\n", "utf-8")

    with pytest.raises(private.UnsoundBank, match="tasks/cut_other.json is not JSON"):
        private.load(folder)

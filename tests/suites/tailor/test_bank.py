"""The open bank is whole and sound, and its hashes are those of its files."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from evaluators.metrics.rubric import INTERACTION_ACCURACY
from evaluators.suites.tailor import SUITE, bank, checks, wording
from evaluators.suites.tailor.bank import DATA, public, samples
from evaluators.suites.tailor.task_files import tasks_with_instances, text_of
from tests.suites.tailor import banks

every_check = pytest.mark.parametrize(
    "check",
    [
        *(checks.fields, checks.totals, checks.balance, checks.ids, checks.tools, checks.rubrics),
        *(
            wording.leaks,
            wording.labels,
            wording.lengths,
            wording.duplicates,
            wording.repeated_tasks,
        ),
        wording.question_form,
    ],
    ids=lambda check: check.__name__,
)


@every_check
def test_no_check_finds_anything_in_the_open_bank(check: checks.Check) -> None:
    assert list(check(public())) == []


def test_every_check_is_part_of_the_whole_examination() -> None:
    assert checks.public_findings(public()) == ()
    assert set(checks.SOUND) >= {
        checks.rubrics,
        wording.leaks,
        wording.duplicates,
        wording.question_form,
    }


def test_the_bank_has_the_papers_size() -> None:
    scenarios = Counter(sample.facets.scenario for sample in samples())

    assert (len(public().actions), len(public().tasks), len(public().instances)) == (18, 80, 400)
    assert scenarios == {"regular": 320, "unconventional": 640, "impossible": 640}
    assert len({sample.id for sample in samples()}) == 1600


def test_only_clips_are_asked_about_motion_and_only_descriptive_prompts_about_their_detail() -> (
    None
):
    found = {sample.id: list(sample.questions) for sample in samples()}

    for name, questions in found.items():
        parts = {question.part for question in questions}
        assert ("motion_plausibility" in parts) == name.endswith(".video")
        for modality in ("image", "video"):
            asked = f"{modality}_detail" in {question.id for question in questions}
            assert not asked or name.endswith(f".descriptive.{modality}")


def test_the_subset_for_people_has_one_prompt_a_task_and_every_kind_in_its_share() -> None:
    chosen = [sample for sample in samples() if SUITE.subsets["human80"](sample)]
    scenarios = Counter(sample.facets.scenario for sample in chosen)
    kinds = Counter((sample.facets.setting, sample.facets.modality) for sample in chosen)

    assert len(chosen) == len({sample.cluster for sample in chosen}) == 80
    assert scenarios == {"regular": 16, "unconventional": 32, "impossible": 32}
    assert set(kinds.values()) == {20}


def test_every_output_gets_the_two_ratings() -> None:
    assert all(
        [q.id for q in s.questions if q.kind == "rating"] == [r.id for r in bank.RATINGS]
        for s in samples()
    )


def test_the_card_of_the_bank_has_its_version_and_licence() -> None:
    card = bank.card()

    assert card["state"] in ("in review", "released")
    assert (card["version"], card["licence"]) == (SUITE.version, "CC-BY-4.0")
    assert card["canary"].startswith("ARMILLARY-TAILOR-BANK ")


def test_every_file_of_a_task_has_the_one_layout_and_its_task_s_name() -> None:
    tasks = {str(task["task_id"]): task for task in tasks_with_instances(public())}
    files = {file.name: file.read_text("utf-8") for file in (DATA / "tasks").iterdir()}

    assert set(files) == {f"{name}.json" for name in tasks}
    assert list(tasks) == bank.card()["tasks"]
    assert [name for name in tasks if files[f"{name}.json"] != text_of(tasks[name])] == [], (
        "Run `armillary tailor check-bank --layout`."
    )


def test_a_bank_that_is_written_reads_as_it_was(tmp_path: Path) -> None:
    folder = banks.write(tmp_path, banks.rows(3))

    assert bank.read(folder) == banks.bank(tasks=3)


@pytest.mark.parametrize(
    "part", ["entity", "attribute", "scene", "state_change", "affordance", "motion"]
)
def test_questions_are_rarely_repeated_word_for_word_over_the_bank(part: str) -> None:
    """Instances of a task have one outcome and may ask for it in one wording; tasks do not."""
    asked = {
        (row["task_id"], question["text"])
        for row in (*public().tasks, *public().instances)
        for question in row["questions"]
        if question["part"] == part
    }

    assert len(asked) >= 80
    assert len({text for _, text in asked}) > 0.85 * len(asked)


def test_a_plural_closing_phrase_does_not_tell_the_scenario() -> None:
    counts = {name: 0 for name in checks.PROMPTS_BY_TYPE}
    for prompt in wording.prompts(public()):
        counts[prompt.row["tool_type"]] += "afterwards" in prompt.text
    shares = [counts[name] / number for name, number in checks.PROMPTS_BY_TYPE.items()]

    assert max(shares) < 2 * min(shares)


def test_the_readme_counts_the_parts_that_have_one_question() -> None:
    ones = Counter(
        part
        for sample in samples()
        for part, count in Counter(question.part for question in sample.questions).items()
        if count == 1
    )
    found = {name: f"{ones[name]:,}" for name in INTERACTION_ACCURACY}

    assert (
        f"state change one in {found['state_change_correctness']} prompts of 1,600, "
        f"use one in {found['affordance_grounding']}, "
        f"motion one in all {found['motion_plausibility']} clips"
    ) in (files("evaluators.suites.tailor") / "README.md").read_text("utf-8")

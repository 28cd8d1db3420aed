"""The open bank is whole and sound, and its hashes are those of its files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from evaluators.suites.tailor import SUITE, bank, checks, wording
from evaluators.suites.tailor.bank import DATA, public, samples
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
    found = {sample.id: [q.id for q in sample.questions] for sample in samples()}

    for name, ids in found.items():
        assert any(one.startswith("motion_") for one in ids) == name.endswith(".video")
        assert ("state_change_4" in ids) == (".descriptive." in name)


def test_every_output_gets_the_two_ratings() -> None:
    assert all(
        [q.id for q in s.questions if q.kind == "rating"] == [r.id for r in bank.RATINGS]
        for s in samples()
    )


def test_the_card_of_the_bank_has_the_hashes_of_its_files() -> None:
    card = json.loads((DATA / "bank.json").read_text("utf-8"))

    assert card["sha256"] == checks.hashes(DATA), (
        "Run `python -m evaluators.suites.tailor.checks --write-hashes`."
    )
    assert (card["version"], card["licence"]) == (SUITE.version, "CC-BY-4.0")
    assert card["canary"].startswith("ARMILLARY-TAILOR-BANK ")


def test_an_edit_changes_the_hashes_and_writing_them_brings_the_card_up_to_date(
    tmp_path: Path,
) -> None:
    folder = banks.write(tmp_path, banks.rows(1))
    (folder / "bank.json").write_text('{"version": "9", "canary": "c"}', "utf-8")
    before = checks.hashes(folder)

    banks.write(folder, banks.rows(2))
    card = json.loads(checks.write_hashes(folder).read_text("utf-8"))

    assert card == {"version": "9", "canary": "c", "sha256": checks.hashes(folder)}
    assert card["sha256"]["tasks.jsonl"] != before["tasks.jsonl"]


def test_the_command_says_that_the_bank_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert checks.main([]) == 0
    assert capsys.readouterr().out == "0 findings.\n"


@pytest.mark.parametrize(
    "part", ["entity", "attribute", "scene", "state_change", "affordance", "motion"]
)
def test_questions_are_rarely_repeated_word_for_word_over_the_bank(part: str) -> None:
    texts = [text for where, text in wording.questions(public()) if where.endswith(f" {part}")]

    assert len(set(texts)) > 0.85 * len(texts)


def test_a_plural_closing_phrase_does_not_tell_the_scenario() -> None:
    counts = {name: 0 for name in checks.PROMPTS_BY_TYPE}
    for prompt in wording.prompts(public()):
        counts[prompt.row["tool_type"]] += "afterwards" in prompt.text
    shares = [counts[name] / number for name, number in checks.PROMPTS_BY_TYPE.items()]

    assert max(shares) < 2 * min(shares)

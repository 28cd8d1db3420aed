"""Nothing that is handed out tells an answer: not an id, not a question, not the other questions of
a clip, and of an action not the last frame."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import pytest

from evaluators.contracts import Sample
from evaluators.suites.universe import SUITE
from evaluators.suites.universe.bank import FILE, read_rows
from tests.bench.leaks import last_frame_rule

SAMPLES = SUITE.samples()
AGREES = "agrees"


def answers(samples: Sequence[Sample]) -> Counter[str]:
    return Counter(str(one.reference["answer"]) for one in samples)


def best_guess(samples: Sequence[Sample], key: str) -> float:
    """How many answers are right for who knows the most frequent answer of each value of a key."""
    groups: dict[str, list[Sample]] = defaultdict(list)
    for one in samples:
        groups[{"prompt": one.prompt, "sign": one.id[:1], "end": one.id[-1]}[key]].append(one)
    right = sum(max(answers(group).values()) for group in groups.values())
    return right / len(samples)


def cell(task: str, form: str) -> list[Sample]:
    return [one for one in SAMPLES if (one.facets.task, one.facets.setting) == (task, form)]


@pytest.mark.parametrize("task", ["action_recognition", "character_recognition"])
def test_a_rule_that_reads_only_the_question_is_exactly_at_chance_on_yes_and_no(task: str) -> None:
    assert best_guess(cell(task, "binary"), "prompt") == 0.5


def test_a_rule_that_reads_only_the_question_knows_no_more_than_the_most_frequent_label() -> None:
    assert best_guess(cell("action_recognition", "open_ended"), "prompt") == pytest.approx(1 / 8)
    assert best_guess(cell("character_recognition", "multiple_choice"), "prompt") < 0.135


def test_no_label_that_is_asked_yes_or_no_about_a_clip_answers_another_question_of_it() -> None:
    kinds: dict[str, set[bool]] = defaultdict(set)
    for one in SAMPLES:
        kinds[one.cluster].add(one.facets.setting == "binary")

    assert all(len(asked) == 1 for asked in kinds.values())


def test_the_end_of_an_id_tells_nothing_that_its_format_does_not() -> None:
    for task in ("action_recognition", "character_recognition"):
        assert best_guess(cell(task, "binary"), "end") == 0.5


def test_neighbours_in_the_list_are_no_more_alike_than_chance_allows() -> None:
    rows = list(read_rows(FILE))
    alike = sum(a.character == b.character for a, b in pairwise(rows))

    assert [row.id for row in rows] == sorted(row.id for row in rows)
    assert alike / len(rows) < 0.13


def test_what_the_list_of_samples_hands_out_holds_no_truth() -> None:
    lines = [json.dumps({"sample": one.id, "prompt": one.prompt}) for one in SAMPLES]

    assert all(str(row.clip.seed) not in line for row in read_rows(FILE) for line in lines[:20])
    assert all(len(one.id) == 14 for one in SAMPLES)


@pytest.mark.long
@pytest.mark.parametrize(("everywhere", "clips"), [(False, 128), (True, 352)])
def test_the_last_frame_alone_tells_little_of_the_action(everywhere: bool, clips: int) -> None:
    found = last_frame_rule(everywhere=everywhere)

    assert found.clips == clips and found.actions < 100 / 8 + 3 * found.spread


def test_the_clips_that_were_looked_at_are_of_this_bank_and_hardly_any_is_in_doubt() -> None:
    with (FILE.parent / "looked_at.csv").open(encoding="utf-8") as file:
        looked_at = list(csv.DictReader(file))
    in_doubt = [row for row in looked_at if (row["action"], row["character"]) != (AGREES, AGREES)]

    assert len({row["clip"] for row in looked_at}) == len(looked_at) >= 200
    assert {row["clip"] for row in looked_at} <= {row.id for row in read_rows(FILE)}
    assert 0 < len(in_doubt) <= len(looked_at) / 50
    assert all(row["note"] for row in in_doubt)

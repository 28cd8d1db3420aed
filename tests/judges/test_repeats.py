"""Repeats: flips are counted with their interval, and the majority follows the rule for ties."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from evaluators.contracts import Answer, Outcome, Question, Request
from evaluators.judges.repeats import Repeated, ask_again, flip_rate, vote, wilson
from evaluators.judges.scripted import ScriptedJudge
from tests.judges.endpoints import CHOICE, YES_NO, asked

CASES = json.loads((Path(__file__).parents[1] / "golden" / "majority_vote.json").read_text())[
    "cases"
]


def repeated(*values: str | None, sample: str = "s") -> Repeated:
    outcomes = [
        Outcome.SCORED if value is not None else Outcome.JUDGE_UNPARSABLE for value in values
    ]
    return Repeated(
        sample, "q", tuple(Answer("q", o, v) for o, v in zip(outcomes, values, strict=True))
    )


def test_each_request_is_put_so_many_times_and_its_answers_are_gathered_by_question(
    tmp_path: Path,
) -> None:
    def rule(request: Request, question: Question) -> str:
        return question.options[
            request.repeat % 2 if question.id == "holds" and request.sample_id == "s1" else 0
        ]

    items = list(ask_again(ScriptedJudge(rule), asked(3, tmp_path, [YES_NO, CHOICE]), times=4))

    assert [(item.sample_id, item.question_id) for item in items] == [
        (sample, question) for sample in ("s0", "s1", "s2") for question in ("holds", "tool")
    ]
    assert items[2].values == ("yes", "no", "yes", "no") and items[3].values == 4 * ("hammer",)
    assert (flip_rate(items).n_flipped, flip_rate(items).n_questions) == (1, 6)


def test_a_judge_that_flips_one_time_in_ten_is_measured_so_and_the_interval_holds_it() -> None:
    draw = random.Random(3)
    items = [
        repeated("yes", "no" if draw.random() < 0.1 else "yes", sample=str(n)) for n in range(400)
    ]

    rate = flip_rate(items)

    assert rate.value == pytest.approx(0.1, abs=0.04) and rate.interval is not None
    assert rate.interval.low < 0.1 < rate.interval.high
    assert "400 questions" in str(rate)


def test_questions_answered_less_than_twice_are_left_out_and_counted() -> None:
    rate = flip_rate([repeated("yes", None, "yes"), repeated("yes", None), repeated(None, None)])

    assert (rate.value, rate.n_questions, rate.n_left_out) == (0.0, 1, 2)


def test_nothing_asked_twice_is_no_rate_rather_than_zero() -> None:
    rate = flip_rate([repeated("yes")])

    assert rate.value is None and rate.interval is None and "unknown" in str(rate)


def test_spelling_is_no_flip() -> None:
    assert flip_rate([repeated("Walking", "walking.", " walking ")]).value == 0.0


@pytest.mark.parametrize(
    ("hits", "n"), [(0, 1), (1, 1), (0, 30), (3, 30), (15, 30), (30, 30), (7, 400)]
)
def test_the_interval_is_wilsons(hits: int, n: int) -> None:
    reference = binomtest(hits, n).proportion_ci(0.95, method="wilson")

    interval = wilson(hits, n)

    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx(
        [reference.low, reference.high], abs=1e-12
    )


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_majority_is_the_golden_one(case: dict[str, Any]) -> None:
    answers: Sequence[str | None] = case["input"]["answers"]

    answer, found = vote(repeated(*answers), seed=1)

    assert list(found.candidates) == case["expected"]["candidates"]
    assert (found.decided_by, found.count) == (
        case["expected"]["decided_by"],
        case["expected"]["count"],
    )
    assert answer.value is None or answer.value in answers


def test_the_majority_is_in_the_words_it_was_first_given_in() -> None:
    assert vote(repeated("No", "Yes.", "yes"), seed=0)[0] == Answer("q", Outcome.SCORED, "Yes.")


def test_a_tie_is_drawn_by_the_seed_always_alike_and_without_favour() -> None:
    item = repeated("a", "a", "b", "b", "c")

    draws = Counter(vote(item, seed)[0].value for seed in range(400))

    assert vote(item, 7) == vote(item, 7)
    assert set(draws) == {"a", "b"} and min(draws.values()) > 150


def test_no_answer_in_any_repeat_is_no_answer_and_keeps_its_reason() -> None:
    bad = Answer("q", Outcome.JUDGE_ERROR, reason="budget")

    assert vote(Repeated("s", "q", (bad, bad)), seed=0)[0] == bad

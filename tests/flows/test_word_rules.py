"""An entry whose answers follow from the questions alone is flagged; one that looks is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from evaluators.suites import suite_named
from flows.evaluate.flags import FOLLOWS_WORDS, _unseeing
from infra.tables import Output
from infra.tables.findings import WHOLE_ENTRY

SAMPLES = suite_named("universe").samples()[:200]


def flags_of(answers: dict[str, str]) -> list[dict[str, Any]]:
    submission = SimpleNamespace(id="sub-x")
    case = cast(Any, SimpleNamespace(samples=SAMPLES, submission=submission))
    rows = {
        name: Output(
            submission_id="sub-x", sample_id=name, outcome="scored", record={"value": text}
        )
        for name, text in answers.items()
    }
    return list(_unseeing(case, rows))


@pytest.mark.parametrize("rule", ["question", "always yes"])
def test_answers_by_a_rule_that_reads_only_the_question_are_flagged(rule: str) -> None:
    answers = {s.id: "yes" if rule == "always yes" else f"answer {len(s.prompt)}" for s in SAMPLES}

    (flag,) = flags_of(answers)

    assert (flag["sample_id"], flag["kind"]) == (WHOLE_ENTRY, FOLLOWS_WORDS)
    assert "follow from the question alone" in flag["text"]


def test_right_answers_are_not_flagged() -> None:
    assert flags_of({s.id: str(s.reference["answer"]) for s in SAMPLES}) == []

"""From a judge's words to UNIVERSE's numbers for one question: exact match and ROUGE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from evaluators.contracts import (
    SUBMITTER_FAILURES,
    Answer,
    JudgeCard,
    Outcome,
    Output,
    Sample,
    Score,
)
from evaluators.metrics.text import Format, exact_match, rouge

PER_SAMPLE = ("score", "em_normalised", "em_strict", "rouge_f1", "rouge1", "rougel")

OWN_JUDGE = JudgeCard(
    name="exact match and ROUGE",
    kind="auto",
    model="rule",
    revision="1",
    prompt_sha256="",
    decoding="answers compared with the known truth",
    frames="",
    precision="",
    code="universe-rule-1",
    note="No model judges here: the judges are what is ranked, and the recorded game knows the "
    "truth.",
)


def score(sample: Sample, output: Output, _answers: Mapping[str, Answer]) -> tuple[Score, ...]:
    """All metrics of one question; an output that cannot be had fails each of them."""
    if output.outcome in SUBMITTER_FAILURES:
        return tuple(Score(sample.id, name, output.outcome) for name in PER_SAMPLE)
    answer = output.record.get("value")
    if not isinstance(answer, str):
        return tuple(Score(sample.id, name, Outcome.JUDGE_ERROR) for name in PER_SAMPLE)
    values = _values(
        answer, str(sample.reference["answer"]), cast(Format, sample.reference["format"])
    )
    detail = {"said": answer, "truth": str(sample.reference["answer"])}
    return tuple(
        Score(sample.id, name, Outcome.SCORED, values[name], detail) for name in PER_SAMPLE
    )


def _values(answer: str, truth: str, form: Format) -> dict[str, float]:
    same, shared = exact_match(answer, truth), rouge(answer, truth, form)
    matched = 100.0 * same.normalised
    return {
        "score": matched,
        "em_normalised": matched,
        "em_strict": 100.0 * same.strict,
        "rouge_f1": 100.0 * shared.f1,
        "rouge1": 100.0 * shared.rouge1_f1,
        "rougel": 100.0 * shared.rouge_l_f1,
    }

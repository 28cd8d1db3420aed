"""From a judge's answers to TailOR's numbers for one sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluators.contracts import (
    OUR_FAILURES,
    SUBMITTER_FAILURES,
    Answer,
    Outcome,
    Output,
    Sample,
    Score,
)
from evaluators.metrics.rubric import PARTS, PartAnswers, RubricScore, score_rubric
from evaluators.suites.tailor.metrics import METRICS

PER_SAMPLE = tuple(metric.name for metric in METRICS if not metric.name.endswith("_gap"))
RATINGS = ("physical_realism", "perceptual_quality")
DIMENSIONS = ("instruction_adherence", "interaction_accuracy")


def score(sample: Sample, output: Output, answers: Mapping[str, Answer]) -> tuple[Score, ...]:
    """All metrics of one sample; a failed output fails each of them, a bad reply leaves a gap that
    says so."""
    if output.outcome in SUBMITTER_FAILURES:
        return tuple(
            Score(sample.id, name, _applies(name, sample, output.outcome)) for name in PER_SAMPLE
        )
    rubric = score_rubric(
        _checklist(sample, answers), "image" if sample.facets.modality == "image" else "video"
    )
    values = _values(rubric, answers)
    bad = next(
        (answer.outcome for answer in answers.values() if answer.outcome in OUR_FAILURES),
        Outcome.JUDGE_ERROR,
    )
    scores = (_sample_score(sample, name, values.get(name), bad) for name in PER_SAMPLE)
    return tuple(_with_missing(score, rubric.missing_answers) for score in scores)


def _applies(metric: str, sample: Sample, outcome: Outcome) -> Outcome:
    """A picture has no motion to judge."""
    still = metric == "motion_plausibility" and sample.facets.modality == "image"
    return Outcome.NOT_APPLICABLE if still else outcome


def _sample_score(sample: Sample, metric: str, value: float | None, bad: Outcome) -> Score:
    outcome = _applies(metric, sample, bad if value is None else Outcome.SCORED)
    return Score(sample.id, metric, outcome, value)


def _with_missing(score: Score, missing: int) -> Score:
    """Unanswered questions leave the share; the two dimensions say how many there were."""
    counted = missing and score.metric in DIMENSIONS
    return replace(score, detail={"missing_answers": missing}) if counted else score


def _values(rubric: RubricScore, answers: Mapping[str, Answer]) -> dict[str, float | None]:
    stars = {name: _number(answers.get(name)) for name in RATINGS}
    values: dict[str, float | None] = {
        **{part.name: part.value for part in rubric.parts},
        "instruction_adherence": rubric.instruction_adherence,
        "interaction_accuracy": rubric.interaction_accuracy,
        **stars,
    }
    return {**values, "index": _index(values)}


def _checklist(sample: Sample, answers: Mapping[str, Answer]) -> list[PartAnswers]:
    checks = [question for question in sample.questions if question.kind == "yes_no"]
    answer_by_id = {
        question.id: answers[question.id].value if question.id in answers else None
        for question in checks
    }
    return [
        PartAnswers(
            name, tuple(answer_by_id[question.id] for question in checks if question.part == name)
        )
        for name in PARTS
    ]


def _number(answer: Answer | None) -> float | None:
    return float(answer.value) if answer and answer.value is not None else None


def _index(values: Mapping[str, float | None]) -> float | None:
    """The mean of the four metrics on one scale of 0 to 100; ours, not the paper's."""
    metric_values = [values[name] for name in DIMENSIONS + RATINGS]
    scaled = [
        value * scale
        for value, scale in zip(metric_values, (1, 1, 20, 20), strict=True)
        if value is not None
    ]
    return sum(scaled) / 4 if len(scaled) == 4 else None

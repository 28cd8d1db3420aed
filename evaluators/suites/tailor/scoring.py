"""From a judge's answers to TailOR's numbers for one sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluators.contracts import (
    OUR_FAILURES,
    SUBMITTER_FAILURES,
    Answer,
    Outcome,
    Output,
    Question,
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
    rubric = _rubric(sample, answers)
    shared = _values(_rubric(sample, answers, shared=True), answers)
    values = {
        **_values(rubric, answers),
        "shared_index": shared["index"],
        "shared_attribute_fidelity": shared["attribute_fidelity"],
    }
    bad = next(
        (answer.outcome for answer in answers.values() if answer.outcome in OUR_FAILURES),
        Outcome.JUDGE_ERROR,
    )
    scores = (_sample_score(sample, name, values.get(name), bad) for name in PER_SAMPLE)
    return tuple(_with_counts(score, rubric) for score in scores)


def _applies(metric: str, sample: Sample, outcome: Outcome) -> Outcome:
    """A picture has no motion to judge."""
    still = metric == "motion_plausibility" and sample.facets.modality == "image"
    return Outcome.NOT_APPLICABLE if still else outcome


def _sample_score(sample: Sample, metric: str, value: float | None, bad: Outcome) -> Score:
    outcome = _applies(metric, sample, bad if value is None else Outcome.SCORED)
    return Score(sample.id, metric, outcome, value)


def _with_counts(score: Score, rubric: RubricScore) -> Score:
    """Unanswered questions leave the share, fallen ones count as not met; the two dimensions say
    how many there were."""
    counts = {
        "missing_answers": rubric.missing_answers,
        "fallen_answers": rubric.fallen_answers,
    }
    detail = {name: count for name, count in counts.items() if count}
    return replace(score, detail=detail) if detail and score.metric in DIMENSIONS else score


def _values(rubric: RubricScore, answers: Mapping[str, Answer]) -> dict[str, float | None]:
    stars = {name: _number(answers.get(name)) for name in RATINGS}
    values: dict[str, float | None] = {
        **{part.name: part.value for part in rubric.parts},
        "instruction_adherence": rubric.instruction_adherence,
        "interaction_accuracy": rubric.interaction_accuracy,
        **stars,
        "fallen_questions": _fallen_share(rubric),
    }
    return {**values, "index": _index(values)}


def _fallen_share(rubric: RubricScore) -> float | None:
    """The share of the answered questions that count as not met because their parent is not."""
    answered = sum(part.n_answered for part in rubric.parts)
    return 100 * rubric.fallen_answers / answered if answered else None


def _rubric(sample: Sample, answers: Mapping[str, Answer], *, shared: bool = False) -> RubricScore:
    """The checklist's score; with `shared`, by the questions that both settings ask."""
    details = sample.reference.get("details", ()) if shared else ()
    assert isinstance(details, list | tuple)
    checks = [
        question
        for question in sample.questions
        if question.kind == "yes_no" and question.id not in details
    ]
    parts = [_part(name, checks, answers) for name in PARTS]
    parents = {question.id: question.parent for question in checks if question.parent}
    return score_rubric(parts, "image" if sample.facets.modality == "image" else "video", parents)


def _part(name: str, checks: Sequence[Question], answers: Mapping[str, Answer]) -> PartAnswers:
    ids = tuple(question.id for question in checks if question.part == name)
    return PartAnswers(name, tuple(answers[id].value if id in answers else None for id in ids), ids)


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

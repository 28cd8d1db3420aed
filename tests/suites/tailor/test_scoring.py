"""From answers to TailOR's numbers: what unanswered, unclear and failed mean for one sample."""

from __future__ import annotations

import pytest

from evaluators.contracts import Answer, Outcome, Output, Sample, Score
from evaluators.suites.tailor.bank import samples
from evaluators.suites.tailor.scoring import PER_SAMPLE, score

PICTURE, CLIP = samples()[0], samples()[1]


def answered(sample: Sample, checklist: str | None = "yes", stars: str = "4") -> dict[str, Answer]:
    values = {q.id: stars if q.kind == "rating" else checklist for q in sample.questions}
    return {name: Answer(name, Outcome.SCORED, value) for name, value in values.items()}


def scored(
    sample: Sample, answers: dict[str, Answer], outcome: Outcome = Outcome.SCORED
) -> dict[str, Score]:
    return {one.metric: one for one in score(sample, Output(sample.id, outcome), answers)}


def test_all_met_and_four_stars_give_an_index_of_90() -> None:
    found = scored(CLIP, answered(CLIP))

    assert (found["instruction_adherence"].value, found["interaction_accuracy"].value) == (100, 100)
    assert found["index"].value == 90
    assert all(not one.detail for one in found.values())


def test_unclear_is_not_met_and_stays_in_the_share() -> None:
    found = scored(CLIP, answered(CLIP, "unclear"))

    assert found["motion_plausibility"].value == found["interaction_accuracy"].value == 0


def test_a_question_left_unanswered_leaves_the_share_and_is_counted() -> None:
    answers = answered(CLIP)
    answers["motion_1"] = Answer("motion_1", Outcome.JUDGE_UNPARSABLE)
    answers["motion_2"] = Answer("motion_2", Outcome.SCORED, "no")

    found = scored(CLIP, answers)

    assert found["motion_plausibility"].value == 50
    assert found["interaction_accuracy"].detail == {"missing_answers": 1}
    assert not found["motion_plausibility"].detail


def test_a_picture_has_no_motion_to_score_even_when_its_output_failed() -> None:
    sound, failed = scored(PICTURE, answered(PICTURE)), scored(PICTURE, {}, Outcome.OUTPUT_MISSING)

    assert {one["motion_plausibility"].outcome for one in (sound, failed)} == {
        Outcome.NOT_APPLICABLE
    }


@pytest.mark.parametrize("outcome", [Outcome.OUTPUT_MISSING, Outcome.BLOCKED, Outcome.MODEL_FAILED])
def test_a_failed_output_fails_every_metric_with_its_own_reason(outcome: Outcome) -> None:
    found = scored(CLIP, {}, outcome)

    assert list(found) == list(PER_SAMPLE)
    assert {one.outcome for one in found.values()} == {outcome}
    assert all(one.value is None for one in found.values())


def test_no_rating_is_no_index_rather_than_a_low_one() -> None:
    answers = answered(CLIP)
    answers["physical_realism"] = Answer("physical_realism", Outcome.JUDGE_UNPARSABLE)

    found = scored(CLIP, answers)

    assert found["index"].value is None
    assert found["index"].outcome is Outcome.JUDGE_UNPARSABLE

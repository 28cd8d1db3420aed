"""From answers to TailOR's numbers: what unanswered, unclear and failed mean for one sample."""

from __future__ import annotations

import pytest

from evaluators.contracts import Answer, Outcome, Output, Sample, Score
from evaluators.suites.tailor import SUITE
from evaluators.suites.tailor.bank import samples_of
from evaluators.suites.tailor.scoring import PER_SAMPLE, score
from tests.suites.tailor.banks import small

PICTURE, CLIP = samples_of(small())[:2]


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
    answers["motion_3"] = Answer("motion_3", Outcome.SCORED, "no")

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


def test_nothing_scores_about_what_is_not_there_and_the_score_says_how_many_fell() -> None:
    answers = answered(CLIP)
    answers["entity_1"] = Answer("entity_1", Outcome.SCORED, "no")
    hanging = [question.id for question in CLIP.questions if question.parent == "entity_1"]

    found = scored(CLIP, answers)

    assert len(hanging) > 3
    assert found["interaction_accuracy"].detail == {"fallen_answers": len(hanging)}
    checks = [question for question in CLIP.questions if question.kind == "yes_no"]
    assert found["fallen_questions"].value == pytest.approx(100 * len(hanging) / len(checks))
    by_part = [q for q in checks if q.part == "state_change_correctness"]
    met = [q for q in by_part if q.id not in hanging]
    assert found["state_change_correctness"].value == pytest.approx(100 * len(met) / len(by_part))


def test_a_detail_that_one_setting_tells_is_no_part_of_the_shared_index() -> None:
    told = next(
        sample
        for sample in samples_of(small())
        if sample.facets.setting == "descriptive" and sample.facets.modality == "image"
    )
    answers = answered(told)
    answers["image_detail"] = Answer("image_detail", Outcome.SCORED, "no")

    found = scored(told, answers)

    assert told.reference["details"] == ["image_detail"]
    assert found["index"].value is not None and found["index"].value < 90
    assert found["shared_index"].value == 90
    asked = [q for q in told.questions if q.part == "attribute_fidelity"]
    share = 100 * (len(asked) - 1) / len(asked)
    assert found["attribute_fidelity"].value == pytest.approx(share)
    assert found["shared_attribute_fidelity"].value == 100


def test_details_of_the_open_bank_are_attributes_only() -> None:
    """Charts compare settings by a shared figure of that part alone."""
    parts = {
        question.part
        for sample in SUITE.samples()
        for question in sample.questions
        if question.id in sample.reference["details"]  # type: ignore[operator]
    }

    assert parts == {"attribute_fidelity"}


def test_every_question_is_asked_behind_the_one_it_hangs_on() -> None:
    for sample in samples_of(small()):
        ids = [question.id for question in sample.questions]
        for question in sample.questions:
            assert not question.parent or ids.index(question.parent) < ids.index(question.id)

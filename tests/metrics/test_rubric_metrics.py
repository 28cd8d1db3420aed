"""What holds of the rubric's scores for any answers."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.rubric import INSTRUCTION_ADHERENCE, PARTS, PartAnswers, score_rubric

MODALITIES: st.SearchStrategy[Literal["image", "video"]] = st.sampled_from(("image", "video"))
ANSWER_LISTS = st.lists(st.sampled_from(["yes", "no", "unclear", None]), max_size=6).map(tuple)
RUBRICS = st.tuples(*[ANSWER_LISTS] * 6).map(
    lambda lists: [PartAnswers(*pair) for pair in zip(PARTS, lists, strict=True)]
)


@given(RUBRICS, MODALITIES)
def test_scores_lie_between_0_and_100_or_are_none(
    parts: list[PartAnswers], modality: Literal["image", "video"]
) -> None:
    score = score_rubric(parts, modality)

    values = [part.value for part in score.parts] + [
        score.instruction_adherence,
        score.interaction_accuracy,
    ]
    assert all(value is None or 0 <= value <= 100 for value in values)


@given(RUBRICS, MODALITIES)
def test_unclear_scores_as_no(
    parts: list[PartAnswers], modality: Literal["image", "video"]
) -> None:
    as_no = [
        PartAnswers(p.name, tuple("no" if answer == "unclear" else answer for answer in p.answers))
        for p in parts
    ]

    assert score_rubric(parts, modality) == score_rubric(as_no, modality)


@given(RUBRICS)
def test_motion_items_never_change_an_image(parts: list[PartAnswers]) -> None:
    without = [part for part in parts if part.name != "motion_plausibility"]

    assert score_rubric(parts, "image") == score_rubric(without, "image")


@given(RUBRICS, st.permutations(range(6)))
def test_the_order_of_parts_does_not_matter(parts: list[PartAnswers], order: list[int]) -> None:
    shuffled = [parts[i] for i in order]

    assert score_rubric(shuffled, "video") == score_rubric(parts, "video")


@given(RUBRICS)
def test_a_part_with_items_but_no_answer_leaves_its_dimension_without_a_value(
    parts: list[PartAnswers],
) -> None:
    silent = [PartAnswers(p.name, (None, None)) if p.name == "scene_validity" else p for p in parts]

    score = score_rubric(silent, "video")

    assert score.instruction_adherence is None
    assert score.interaction_accuracy == score_rubric(parts, "video").interaction_accuracy


def test_a_dimension_is_the_mean_of_parts_and_not_of_items() -> None:
    many, few, none = INSTRUCTION_ADHERENCE
    parts = [PartAnswers(many, ("yes",) * 6), PartAnswers(few, ("no",)), PartAnswers(none, ())]

    score = score_rubric(parts, "video")

    assert score.instruction_adherence == 50.0


def test_unanswered_items_leave_the_denominator_and_are_counted() -> None:
    score = score_rubric([PartAnswers("scene_validity", ("yes", None, "no", None))], "video")

    assert score.instruction_adherence == 50.0
    assert score.missing_answers == 2


def test_an_answer_outside_the_menu_is_refused() -> None:
    with pytest.raises(ValueError, match="'maybe'"):
        score_rubric([PartAnswers("scene_validity", ("maybe",))], "video")


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match="'beauty' is not a part"):
        score_rubric([PartAnswers("beauty", ("yes",))], "video")


def test_a_part_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="2 times"):
        score_rubric(
            [PartAnswers("scene_validity", ("yes",)), PartAnswers("scene_validity", ("no",))],
            "video",
        )


def test_an_unknown_modality_is_refused() -> None:
    with pytest.raises(ValueError, match="'audio'"):
        score_rubric([], "audio")  # type: ignore[arg-type]

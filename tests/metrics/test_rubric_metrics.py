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


@st.composite
def checklists(draw: st.DrawFn) -> tuple[list[PartAnswers], dict[str, str]]:
    """A rubric whose questions hang on earlier ones, here and there."""
    count = draw(st.integers(1, 18))
    names = [f"q{number}" for number in range(count)]
    places = draw(st.lists(st.sampled_from(PARTS), min_size=count, max_size=count))
    answers = draw(
        st.lists(st.sampled_from(["yes", "yes", "no", "unclear"]), min_size=count, max_size=count)
    )
    parents = {
        names[number]: names[parent]
        for number in range(1, count)
        if (parent := draw(st.integers(-2, number - 1))) >= 0
    }
    parts = [
        PartAnswers(
            part,
            tuple(a for a, place in zip(answers, places, strict=True) if place == part),
            tuple(n for n, place in zip(names, places, strict=True) if place == part),
        )
        for part in dict.fromkeys(places)
    ]
    return parts, parents


def without(parts: list[PartAnswers], lost: set[str]) -> list[PartAnswers]:
    """The same rubric with these questions not met."""
    return [
        PartAnswers(
            part.name,
            tuple(
                "no" if name in lost else answer
                for name, answer in zip(part.ids, part.answers, strict=True)
            ),
            part.ids,
        )
        for part in parts
    ]


@given(checklists(), MODALITIES, st.sets(st.integers(0, 17).map("q{}".format)))
def test_what_is_not_there_never_raises_a_score_whatever_hangs_on_it(
    checklist: tuple[list[PartAnswers], dict[str, str]],
    modality: Literal["image", "video"],
    lost: set[str],
) -> None:
    parts, parents = checklist

    whole = score_rubric(parts, modality, parents)
    less = score_rubric(without(parts, lost), modality, parents)

    for before, after in zip(whole.parts, less.parts, strict=True):
        assert (before.value is None) == (after.value is None)
        assert before.value is None or (after.value or 0.0) <= before.value
    assert less.fallen_answers >= whole.fallen_answers


@given(checklists(), MODALITIES)
def test_a_rubric_without_parents_scores_as_ever_and_parents_only_lower_it(
    checklist: tuple[list[PartAnswers], dict[str, str]], modality: Literal["image", "video"]
) -> None:
    parts, parents = checklist
    bare = [PartAnswers(part.name, part.answers) for part in parts]

    plain, hanging = score_rubric(bare, modality), score_rubric(parts, modality, parents)

    assert score_rubric(parts, modality) == plain
    assert plain.fallen_answers == 0
    for before, after in zip(plain.parts, hanging.parts, strict=True):
        assert before.value is None or (after.value or 0.0) <= before.value


def test_a_circle_of_parents_ends_and_ids_are_one_an_answer() -> None:
    parts = [PartAnswers("entity_completeness", ("yes", "yes"), ("a", "b"))]

    assert score_rubric(parts, "image", {"a": "b", "b": "a"}).fallen_answers == 0
    with pytest.raises(ValueError, match="1 ids and 2 answers"):
        score_rubric([PartAnswers("entity_completeness", ("yes", "yes"), ("a",))], "image")

"""Low scores, and only those, are looked at again, and the look names modes of the right
modality."""

from __future__ import annotations

import pytest

from evaluators.contracts import Answer, Failure, Outcome
from evaluators.judges.menus import check
from evaluators.suites.tailor.failures import PRIMARY, TAXONOMY, needs_a_look, questions, read


def answers(**given: str) -> dict[str, Answer]:
    return {name: Answer(name, Outcome.SCORED, value) for name, value in given.items()}


@pytest.mark.parametrize(
    ("accuracy", "realism", "low"),
    [
        (49.9, 5.0, True),
        (50.0, 2.5, False),
        (100.0, 2.4, True),
        (None, 2.0, True),
        (None, None, False),
        (80.0, None, False),
    ],
)
def test_a_look_is_due_below_50_percent_or_below_two_and_a_half(
    accuracy: float | None, realism: float | None, low: bool
) -> None:
    assert needs_a_look({"interaction_accuracy": accuracy, "physical_realism": realism}) is low


def test_a_picture_has_five_modes_and_a_clip_six_with_three_in_common() -> None:
    image, video = set(TAXONOMY["image"]), set(TAXONOMY["video"])

    assert (len(image), len(video), len(image & video)) == (5, 6, 3)
    assert "temporal_inconsistency" not in image


@pytest.mark.parametrize("modality", ["image", "video"])
def test_the_look_is_told_what_the_right_outcome_is(modality: str) -> None:
    told = {
        one.id: one.text for one in questions(modality, {"expected_outcome": "It stays whole."})
    }
    plain = {one.id: one.text for one in questions(modality)}

    assert told.pop("incorrect_outcome").endswith("which is this? It stays whole.")
    assert told == {name: text for name, text in plain.items() if name != "incorrect_outcome"}


@pytest.mark.parametrize("modality", ["image", "video"])
def test_each_mode_is_asked_and_the_primary_one_is_chosen_among_them(modality: str) -> None:
    *each, primary = asked = questions(modality)

    check(asked)
    assert [question.id for question in each] == list(TAXONOMY[modality])
    assert (primary.id, primary.kind, primary.options) == (
        PRIMARY,
        "choice",
        tuple(TAXONOMY[modality]),
    )


def test_the_modes_are_those_answered_yes_in_the_taxonomys_order() -> None:
    given = answers(
        temporal_inconsistency="yes",
        incorrect_outcome="yes",
        physical_violation="unclear",
        primary_failure="temporal_inconsistency",
    )

    assert read("video", given) == Failure(
        "temporal_inconsistency", ("incorrect_outcome", "temporal_inconsistency")
    )


def test_the_primary_mode_applies_even_if_its_own_question_was_answered_no() -> None:
    given = answers(incorrect_outcome="no", primary_failure="incorrect_outcome")

    assert read("image", given) == Failure("incorrect_outcome", ("incorrect_outcome",))


def test_a_reply_that_could_not_be_read_has_no_primary_mode() -> None:
    broken = {PRIMARY: Answer(PRIMARY, Outcome.JUDGE_UNPARSABLE, None)}

    assert read("image", broken) == read("image", {}) == Failure(None, ())


def test_a_mode_of_the_other_modality_counts_for_nothing() -> None:
    assert read("image", answers(primary_failure="temporal_inconsistency")) == Failure(None, ())


def test_an_unknown_modality_is_refused() -> None:
    with pytest.raises(ValueError, match="Give 'image' or 'video'"):
        questions("sound")

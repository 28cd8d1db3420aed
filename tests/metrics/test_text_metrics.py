"""What holds of exact match and ROUGE, and that ROUGE is rouge-score's at the effective order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer  # type: ignore[import-untyped, unused-ignore]

from evaluators.metrics.text import Format, exact_match, normalise, rouge

WORDS = st.sampled_from(["Jumping", "on", "the", "level", "up", "Gizmo", "yes", "a-b", "it's"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=7).map(" ".join)
FORMATS: st.SearchStrategy[Format] = st.sampled_from(("binary", "multiple_choice", "open_ended"))


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once


@given(SENTENCES, st.sampled_from(["", ".", "!", " ?", " . . "]))
def test_case_space_and_end_punctuation_do_not_matter_after_normalisation(
    text: str, ending: str
) -> None:
    match = exact_match(f"  {text.upper().replace(' ', '   ')}{ending} ", text)

    assert match.normalised
    assert not match.strict


def test_punctuation_inside_an_answer_stays() -> None:
    assert normalise("Yes, it is.") == "yes, it is"


@given(SENTENCES, SENTENCES, FORMATS)
def test_rouge_is_that_of_rouge_score_at_the_effective_order(
    prediction: str, reference: str, question: Format
) -> None:
    score = rouge(prediction, reference, question)

    names = [f"rouge{score.effective_order}", f"rouge{score.nominal_order}", "rouge1", "rougeL"]
    scores = rouge_scorer.RougeScorer(names, use_stemmer=False).score(reference, prediction)
    at_order = scores[names[0]]
    assert (score.precision, score.recall, score.f1) == (
        at_order.precision,
        at_order.recall,
        at_order.fmeasure,
    )
    assert score.strict_order_f1 == scores[names[1]].fmeasure
    assert (score.rouge1_f1, score.rouge_l_f1) == (
        scores["rouge1"].fmeasure,
        scores["rougeL"].fmeasure,
    )


@given(SENTENCES, FORMATS)
def test_an_exact_match_has_rouge_1(text: str, question: Format) -> None:
    assert rouge(text.upper(), text, question).f1 == 1.0


@given(SENTENCES, SENTENCES, FORMATS)
def test_the_order_depends_on_the_reference_alone(
    prediction: str, reference: str, question: Format
) -> None:
    assert (
        rouge(prediction, reference, question).effective_order
        == rouge("", reference, question).effective_order
    )


def test_repeated_words_count_no_more_often_than_in_the_reference() -> None:
    score = rouge("yes yes yes yes", "yes", "binary")

    assert (score.precision, score.recall) == (0.25, 1.0)


def test_an_empty_prediction_scores_zero() -> None:
    assert rouge("", "Gizmo", "open_ended").f1 == 0.0


@pytest.mark.parametrize("reference", ["", "  ", "?!"])
def test_a_reference_without_words_is_refused(reference: str) -> None:
    with pytest.raises(ValueError, match="without a word"):
        rouge("yes", reference, "binary")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="'essay'"):
        rouge("yes", "yes", "essay")  # type: ignore[arg-type]

"""UNIVERSE's text scores: exact match, and ROUGE of an order that the reference can have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped, unused-ignore]

Format = Literal["binary", "multiple_choice", "open_ended"]

END_PUNCTUATION = ".,;:!?"
HIGHEST_ORDER = 3


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """Whether prediction and reference are the same, to the letter and after normalisation."""

    strict: bool
    normalised: bool


@dataclass(frozen=True, slots=True)
class Rouge:
    """ROUGE at the effective order, and what the literal order, single words and the longest
    sequence give."""

    f1: float
    precision: float
    recall: float
    nominal_order: int
    effective_order: int
    strict_order_f1: float
    rouge1_f1: float
    rouge_l_f1: float


def normalise(text: str) -> str:
    """Trim, lower the case, collapse spaces and drop punctuation at the end.

    >>> normalise("  Mounting   hoverboard. ")
    'mounting hoverboard'
    """
    return " ".join(text.lower().split()).rstrip(END_PUNCTUATION + " ")


def exact_match(prediction: str, reference: str) -> ExactMatch:
    """Compare an answer with the reference, as it stands and normalised.

    >>> exact_match("Yes.", "yes")
    ExactMatch(strict=False, normalised=True)
    """
    return ExactMatch(prediction == reference, normalise(prediction) == normalise(reference))


def rouge(prediction: str, reference: str, question: Format) -> Rouge:
    """Score shared n-grams, with the order lowered to the reference's length where that is shorter.

    >>> score = rouge("Yes, it is", "Yes", "binary")
    >>> score.effective_order, score.f1, score.strict_order_f1
    (1, 0.5, 0.0)
    """
    nominal = _nominal_order(question)
    effective = min(nominal, _n_words(reference))
    scores = _scorer().score(target=reference, prediction=prediction)
    at_order = scores[f"rouge{effective}"]
    return Rouge(
        f1=float(at_order.fmeasure),
        precision=float(at_order.precision),
        recall=float(at_order.recall),
        nominal_order=nominal,
        effective_order=effective,
        strict_order_f1=float(scores[f"rouge{nominal}"].fmeasure),
        rouge1_f1=float(scores["rouge1"].fmeasure),
        rouge_l_f1=float(scores["rougeL"].fmeasure),
    )


def _nominal_order(question: Format) -> int:
    if question not in ("binary", "multiple_choice", "open_ended"):
        raise ValueError(
            f"The question format is {question!r}. Give 'binary', 'multiple_choice' or "
            "'open_ended'."
        )
    return 2 if question == "binary" else HIGHEST_ORDER


def _n_words(reference: str) -> int:
    from rouge_score.tokenizers import DefaultTokenizer  # type: ignore[import-untyped, unused-ignore]

    words = len(DefaultTokenizer(use_stemmer=False).tokenize(reference))
    if not words:
        raise ValueError(
            f"The reference is {reference!r}, without a word to find. Give the expected answer."
        )
    return words


@cache
def _scorer() -> RougeScorer:
    from rouge_score.rouge_scorer import RougeScorer

    orders = [f"rouge{order}" for order in range(1, HIGHEST_ORDER + 1)]
    return RougeScorer([*orders, "rougeL"], use_stemmer=False)

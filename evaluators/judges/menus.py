"""What may be answered to a question: said in words for the judge, and as a JSON schema for the
endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.contracts import Json, Question
from evaluators.judges.quoting import quoted

STEP = 0.5
"""A judge may give half points."""


def fold(option: str) -> str:
    """How options are compared: trimmed, without regard to case."""
    return option.strip().casefold()


def describe(question: Question) -> str:
    """The menu of a question in words.

    >>> describe(Question("a", "How real?", "rating", low=0, high=5))
    'a number from 0 to 5 in steps of 0.5'
    """
    match question.kind:
        case "rating":
            return f"a number from {question.low:g} to {question.high:g} in steps of {STEP:g}"
        case "open":
            return "a short text that is not empty, as a JSON string"
        case _:
            return "one of " + ", ".join(map(quoted, question.options))


def check(questions: Sequence[Question]) -> None:
    """Raise for a question that cannot be answered: that is a fault of the suite, not of the
    judge."""
    if not questions:
        raise ValueError("There is no question in the request. Give at least one.")
    for question in questions:
        if question.kind == "rating":
            _check_range(question)
        elif (
            question.kind != "open"
            and len({fold(option) for option in question.options} - {""}) < 2
        ):
            raise ValueError(
                f"{question.id!r} has the menu {question.options}. Give at least two different "
                "options."
            )
        elif len({fold(option) for option in question.options}) < len(question.options):
            raise ValueError(
                f"{question.id!r} has options that differ only in case or spaces: "
                f"{question.options}."
            )


def schema(questions: Sequence[Question], first: str) -> dict[str, Json]:
    """The JSON schema of the reply: a text to reason in under the key `first`, then q1 to qN."""
    answers: dict[str, Json] = {
        f"q{number}": _values(question) for number, question in enumerate(questions, 1)
    }
    properties: dict[str, Json] = {first: {"type": "string"}, **answers}
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _check_range(question: Question) -> None:
    low, high = question.low, question.high
    if low is None or high is None or not low < high or low * 2 % 1 or high * 2 % 1:
        raise ValueError(
            f"{question.id!r} is a rating from {low} to {high}. Give two numbers in halves, low "
            "first."
        )


def _values(question: Question) -> dict[str, Json]:
    if question.kind == "open":
        return {"type": "string"}
    if question.kind != "rating":
        return {"type": "string", "enum": [*question.options]}
    low, high = question.low or 0.0, question.high or 0.0
    return {
        "type": "number",
        "enum": [low + STEP * step for step in range(int((high - low) / STEP) + 1)],
    }

"""Ratings of a study read as opinions about single outputs, and the means of their answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

from evaluators.contracts import Opinion, RatedItem

YES = {"yes": 1.0, "no": 0.0, "unclear": 0.0}
GRADES = {"incorrect": 0.0, "partially_correct": 0.5, "correct": 1.0}
CHOSEN = ("best", "worst")
"""The questions that are answered with the letter of a medium."""

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RatedOutput:
    """One rater's opinion of one method's output for one sample."""

    method: str
    sample: str
    opinion: Opinion


def opinions(ratings: Sequence[RatedItem]) -> list[RatedOutput]:
    """What real items say of each output they show, whether alone or beside others."""
    return [output for rated in ratings if rated.kind == "real" for output in _split(rated)]


def _split(rated: RatedItem) -> Iterator[RatedOutput]:
    methods = rated.behind["methods"]
    samples = rated.behind.get("samples") or dict.fromkeys(methods, rated.behind.get("sample", ""))
    for letter, method in methods.items():
        answers = dict(_about(letter, methods, rated.answers))
        opinion = Opinion(rated.item, rated.rater, rated.slot, answers, rated.settles)
        yield RatedOutput(method, samples[letter], opinion)


def _about(
    letter: str, methods: Mapping[str, str], answers: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The answers about one letter, and those about the whole; of best and worst, whether it is
    this letter."""
    for name, value in answers.items():
        first, dot, question = name.partition(".")
        if name in CHOSEN:
            yield name, value == letter
        elif not (dot and first in methods):
            yield name, value
        elif first == letter:
            yield question, value


def numbers(answers: Mapping[str, Any]) -> dict[str, float]:
    """Answers as numbers where they have an order: ticks, checks, grades, marks.

    >>> numbers({"q1": "yes", "mark": "4", "grade": "partially_correct", "comment": "blurred"})
    {'q1': 1.0, 'mark': 4.0, 'grade': 0.5}
    """
    values: dict[str, float] = {}
    for name, value in answers.items():
        if isinstance(value, bool):
            values[name] = float(value)
        elif value in YES:
            values[name] = YES[value]
        elif value in GRADES:
            values[name] = GRADES[value]
        elif isinstance(value, str) and value.isdigit():
            values[name] = float(value)
    return values


def grouped(members: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Lists by key, keys in the order they first occur in."""
    groups: dict[Key, list[T]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return groups


def opinions_by_item(outputs: Iterable[RatedOutput]) -> list[list[Opinion]]:
    """The opinions about one method, item by item."""
    groups = grouped(outputs, lambda output: output.opinion.item)
    return [[output.opinion for output in group] for group in groups.values()]


def by_method(
    ratings: Sequence[RatedItem], figures: Callable[[list[list[Opinion]]], Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """The figures of each method, from its opinions item by item."""
    outputs = grouped(opinions(ratings), lambda output: output.method)
    return {method: figures(opinions_by_item(group)) for method, group in outputs.items()}


def mean_answers(ratings: Sequence[RatedItem], _seed: int) -> Mapping[str, Mapping[str, Any]]:
    """Means of all checks together and of each mark, by method: over the raters of an item first,
    then over items."""
    return by_method(ratings, _means)


def _means(items: list[list[Opinion]]) -> dict[str, float]:
    by_name: dict[str, list[float]] = {}
    for item in items:
        values = [pair for opinion in item for pair in _named(opinion.answers)]
        for name, pairs in grouped(values, lambda pair: pair[0]).items():
            by_name.setdefault(name, []).append(fmean(value for _, value in pairs))
    return {name: fmean(means) for name, means in by_name.items()}


def _named(answers: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Marks by their names, checks together."""
    return [
        (name if str(answers[name]).isdigit() else "checks", value)
        for name, value in numbers(answers).items()
    ]

"""A judge asked again: how often it changes its mind, and what the majority of its answers is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import sqrt

from evaluators.contracts import Answer, Judge, Outcome, Request
from evaluators.metrics.text import normalise
from evaluators.metrics.voting import Ticket, Vote, majority_vote

NINETY_FIVE = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a share lies with a confidence of 95 %."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Repeated:
    """All answers to one question about one output, in the order of the repeats."""

    sample_id: str
    question_id: str
    answers: tuple[Answer, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The answers that are answers."""
        return tuple(answer.value for answer in self.answers if answer.value is not None)


@dataclass(frozen=True, slots=True)
class FlipRate:
    """The share of questions to which repeats gave different answers; those answered less than
    twice are left out."""

    value: float | None
    interval: Interval | None
    n_flipped: int
    n_questions: int
    n_left_out: int

    def __str__(self) -> str:
        if self.value is None or self.interval is None:
            return f"flip rate unknown: no question was answered twice ({self.n_left_out} left out)"
        low, high = self.interval.low, self.interval.high
        return (
            f"flip rate {self.value:.1%} (95 % interval {low:.1%} to {high:.1%}, "
            f"{self.n_questions} questions)"
        )


def ask_again(judge: Judge, requests: Sequence[Request], times: int) -> Iterator[Repeated]:
    """Put each request so many times, as repeats 0, 1, 2 and so on, and gather the answers by
    question."""
    repeats = [replace(request, repeat=number) for request in requests for number in range(times)]
    replies = judge.judge(repeats)
    for request in requests:
        repeated_replies = list(islice(replies, times))
        for place, question in enumerate(request.questions):
            yield Repeated(
                request.sample_id,
                question.id,
                tuple(reply.answers[place] for reply in repeated_replies),
            )


def flip_rate(repeated: Sequence[Repeated]) -> FlipRate:
    """How often a judge does not give one answer, compared after normalisation as votes are.

    >>> yes, no = (Answer("q", Outcome.SCORED, value) for value in ("yes", "no"))
    >>> repeated = [("a", (yes, yes)), ("b", (yes, no)), ("c", (no,))]
    >>> flip_rate([Repeated(sample, "q", answers) for sample, answers in repeated]).value
    0.5
    """
    distinct_answers = [
        {normalise(value) for value in item.values} for item in repeated if len(item.values) > 1
    ]
    flipped, n = sum(len(different) > 1 for different in distinct_answers), len(distinct_answers)
    return FlipRate(flipped / n if n else None, wilson(flipped, n), flipped, n, len(repeated) - n)


def wilson(hits: int, n: int, z: float = NINETY_FIVE) -> Interval | None:
    """Wilson's interval of a share, taking the tries as independent; nothing was tried, nothing is
    known.

    >>> interval = wilson(0, 10)
    >>> interval.low, round(interval.high, 4)
    (0.0, 0.2775)
    """
    if not n:
        return None
    share, weight = hits / n, z * z / n
    middle = (share + weight / 2) / (1 + weight)
    reach = z * sqrt(share * (1 - share) / n + weight / n / 4) / (1 + weight)
    return Interval(
        max(0.0, middle - reach) if hits else 0.0, min(1.0, middle + reach) if hits < n else 1.0
    )


def vote(item: Repeated, seed: int) -> tuple[Answer, Vote]:
    """The answer most repeats gave, ties drawn by the seed, in the words in which it was first
    given."""
    majority = majority_vote(item.values, Ticket(seed, item.sample_id, item.question_id))
    won = next((value for value in item.values if normalise(value) == majority.answer), None)
    if won is None:
        bad = next((answer for answer in item.answers if answer.outcome != Outcome.SCORED), None)
        return (
            bad
            or Answer(item.question_id, Outcome.JUDGE_UNPARSABLE, reason="no repeat gave an answer")
        ), majority
    return Answer(item.question_id, Outcome.SCORED, won), majority

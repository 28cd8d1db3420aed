"""How well a judge did in an exam: agreement, kappa, yes-bias, answer rate, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.contracts import Answer, Outcome, Question, Reply
from evaluators.judges.exam.exam import HIGH, ExamItem
from evaluators.statistics.agreement import cohen_kappa
from evaluators.statistics.intervals import Estimates, Floats, Ints, estimate, intervals, sums


@dataclass(frozen=True, slots=True)
class Mark:
    """The right answer to a question and the judge's; None is no answer that is on the menu."""

    cluster: str
    right: str
    answer: str | None
    twin: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with its 95 % interval; None where there is too little to measure."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Competence:
    """What an exam says of a judge.

    `n` counts all questions. Agreement, kappa and yes-bias are over the closed ones that were
    answered: `chance` is the agreement that such answers would reach by chance, `yes_bias` the
    share of favourable answers minus the right share. `order` is the share of answered pairs of
    twins whose sound version is rated higher, equal ratings being half a pair; the exam has
    `n_pairs` of them.
    """

    n: int
    n_answered: int
    answer_rate: float | None
    agreement: Measured
    chance: float | None
    kappa: Measured
    yes_bias: Measured
    n_pairs: int
    order: Measured


def marks(items: Sequence[ExamItem], replies: Iterable[Reply]) -> tuple[Mark, ...]:
    """Put the right answers beside the judge's; a reply that is missing answers nothing."""
    answers = {
        (reply.sample_id, answer.question_id): answer
        for reply in replies
        for answer in reply.answers
    }
    return tuple(
        Mark(
            item.cluster,
            item.answers[question.id],
            _on_menu(question, answers.get((item.id, question.id))),
            item.twin,
        )
        for item in items
        for question in item.questions
    )


def competence(marked: Sequence[Mark], menu: Sequence[str]) -> Competence:
    """Measure a judge by its marks; the first answer on the menu is the favourable one.

    >>> perfect = [Mark(str(n), right, right) for n, right in enumerate(["yes", "no"] * 50)]
    >>> result = competence(perfect, ("yes", "no"))
    >>> result.kappa.value, round(result.kappa.low, 2), result.yes_bias.value, result.answer_rate
    (1.0, 0.93, 0.0, 1.0)
    """
    closed = [mark for mark in marked if not mark.twin and mark.answer is not None]
    pairs = _pairs([mark for mark in marked if mark.twin])
    n_answered = sum(mark.answer is not None for mark in marked)
    clusters = _numbers([mark.cluster for mark in closed])
    right = np.array([menu.index(mark.right) for mark in closed], np.int64)
    answer = np.array([menu.index(str(mark.answer)) for mark in closed], np.int64)
    return Competence(
        n=len(marked),
        n_answered=n_answered,
        answer_rate=n_answered / len(marked) if marked else None,
        agreement=_mean((right == answer).astype(np.float64), clusters, 0.0),
        chance=_chance(right, answer, len(menu)) if closed else None,
        kappa=_measured(kappa_estimate(right, answer, clusters, menu), -1.0)
        if closed
        else Measured(),
        yes_bias=_mean((answer == 0).astype(np.float64) - (right == 0), clusters, -1.0),
        n_pairs=len({mark.twin for mark in marked if mark.twin}),
        order=_mean(pairs, np.arange(len(pairs)), 0.0),
    )


def kappa_estimate(right: Ints, answer: Ints, clusters: Ints, menu: Sequence[str]) -> Estimates:
    """Give Cohen's kappa with what each cluster adds to its error, to first order.

    An item moves the agreement p by whether it agrees, and the agreement by chance e by how
    frequent its two answers are with the rater opposite; kappa = (p - e) / (1 - e) follows.

    >>> right, answer = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> kappa_estimate(right, answer, np.arange(4), ("yes", "no")).values.tolist()
    [0.5]
    """
    names = np.array(menu)
    value = cohen_kappa(names[answer].tolist(), names[right].tolist(), menu).value
    if value is None:
        return Estimates(np.array([np.nan]), np.zeros((1, 1)), np.zeros(1, np.int64))
    agree, chance = (right == answer).astype(np.float64), _chance(right, answer, len(menu))
    expected = _shares(answer, len(menu))[right] + _shares(right, len(menu))[answer] - 2 * chance
    moved = (agree - agree.mean()) / (1 - chance) - (1 - agree.mean()) / (
        1 - chance
    ) ** 2 * expected
    weights = sums(clusters, np.full((len(right), 1), 1 / len(right)))
    effective = np.rint(1 / (weights**2).sum(axis=0)).astype(np.int64)
    return Estimates(np.array([value]), sums(clusters, moved[:, None] / len(right)), effective)


def _on_menu(question: Question, answer: Answer | None) -> str | None:
    if answer is None or answer.outcome is not Outcome.SCORED or answer.value is None:
        return None
    if question.kind != "rating":
        return answer.value if answer.value in question.options else None
    return answer.value if _rating(question, answer.value) else None


def _rating(question: Question, value: str) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    return (question.low or 0.0) <= number <= (question.high or 0.0)


def _pairs(marked: Sequence[Mark]) -> Floats:
    """1 where the sound twin is rated higher, 0 where the spoiled one is, a half for equals."""
    ratings: dict[str, dict[bool, float]] = {}
    for mark in marked:
        if mark.answer is not None:
            ratings.setdefault(mark.twin, {})[mark.right == HIGH] = float(mark.answer)
    leads = [pair[True] - pair[False] for pair in ratings.values() if len(pair) == 2]
    return np.array([(np.sign(lead) + 1) / 2 for lead in leads], np.float64)


def _numbers(clusters: Sequence[str]) -> Ints:
    place = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    return np.array([place[cluster] for cluster in clusters], np.int64)


def _shares(answers: Ints, count: int) -> Floats:
    return np.bincount(answers, minlength=count) / len(answers)


def _chance(right: Ints, answer: Ints, count: int) -> float:
    return float(_shares(right, count) @ _shares(answer, count))


def _mean(values: Floats, clusters: Ints, least: float) -> Measured:
    return _measured(estimate(values[:, None], clusters), least) if len(values) else Measured()


def _measured(estimates: Estimates, least: float) -> Measured:
    ends = intervals(estimates, least, 1.0)
    return Measured(*(_or_none(column[0]) for column in (estimates.values, ends.low, ends.high)))


def _or_none(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)

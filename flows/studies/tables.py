"""A study's own figures for every method, from its ratings alone: the outputs need not be on the
board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeVar

from evaluators.metrics.outcomes import ObjectOutcome, categorise
from evaluators.metrics.ranking import Ballot
from evaluators.statistics.grading import accuracy, primary_agreement
from evaluators.suites.liva import people
from evaluators.suites.sc3.rating import criteria, labels
from evaluators.suites.universe.rating import graded
from flows.studies.ratings import About, RatedItem, numbers, opinions
from infra.tables.study import Study
from leaderboard.studies.forms import UNABLE

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)
Table = dict[str, dict[str, Any]]


def table_of(study: Study, given: Sequence[RatedItem]) -> Table:
    """A protocol's figures for every method, from these ratings."""
    if study.protocol == "liva":
        return _liva([one for one in given if one.kind == "real"], study.seed)
    figures = {"universe": _universe, "sc3": _sc3}.get(study.protocol, _tailor)
    return {
        method: figures(some)
        for method, some in _by(opinions(given), lambda one: one.method).items()
    }


def _by(some: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    found: dict[Key, list[T]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


def _items(some: Sequence[About]) -> list[list[About]]:
    return list(_by(some, lambda one: one.opinion.item).values())


def _tailor(some: Sequence[About]) -> dict[str, Any]:
    """Means of checks and of each mark: raters of an item first, then items; the suite's own scores
    are the board's."""
    found: dict[str, list[float]] = {}
    for item in _items(some):
        said = [(name, value) for one in item for name, value in _named(one.opinion.answers)]
        for name, values in _by(said, lambda pair: pair[0]).items():
            found.setdefault(name, []).append(fmean(value for _, value in values))
    return {name: fmean(values) for name, values in found.items()}


def _named(answers: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Marks by their names, checks together."""
    return [
        (name if str(answers[name]).isdigit() else "checks", value)
        for name, value in numbers(answers).items()
    ]


def _liva(real: Sequence[RatedItem], seed: int) -> Table:
    """Task success and plausibility, raters of a video first; best-worst over all ballots, with
    intervals."""
    subgoals = {one.item: int(one.behind.get("subgoals", 0)) for one in real}
    called = _names(real)
    views = _by(opinions(real), lambda one: called(one.method, one.sample))
    choices = [_choice(one, called) for one in real]
    stand = {one.standing.method: one for one in people.best_worst(sorted(views), choices, seed)}
    return {
        method: _video_figures(views[method], subgoals, stand[method]) for method in sorted(views)
    }


def _video_figures(
    some: Sequence[About], subgoals: Mapping[str, int], stand: people.RankedMethod
) -> dict[str, Any]:
    rows = [people.rated(one.sample, subgoals[one.opinion.item], one.opinion) for one in some]
    scores = _by(people.scores(rows), lambda score: score.metric)
    means = {
        name: [score.value for score in scores.get(name, ()) if score.value is not None]
        for name in ("tsr", "pps")
    }
    standing = stand.standing
    return {
        **{name: fmean(values) if values else None for name, values in means.items()},
        "bws": standing.score,
        "low": stand.low,
        "high": stand.high,
        "rank": standing.rank,
        "n": standing.n_shown,
    }


def _names(real: Sequence[RatedItem]) -> Callable[[str, str], str]:
    """A method's name; where an entry stands beside itself in another setting, with the setting."""
    shown = [list(one.behind["methods"].values()) for one in real]
    if all(len(set(names)) == len(names) for names in shown):
        return lambda method, _sample: method
    return lambda method, sample: f"{method} {sample.rpartition('.')[2]}"


def _choice(one: RatedItem, called: Callable[[str, str], str]) -> people.BestWorstChoice:
    methods, samples = one.behind["methods"], one.behind.get("samples", {})
    named = {letter: called(method, samples.get(letter, "")) for letter, method in methods.items()}
    unable = one.answers.get(UNABLE) is True
    best, worst = (
        None if unable else named.get(str(one.answers.get(name))) for name in ("best", "worst")
    )
    case = next(iter(samples.values()), one.item).rpartition(".")[0] or one.item
    return people.BestWorstChoice(
        case, one.rater, Ballot(tuple(named.values()), best, worst, unable)
    )


def _universe(some: Sequence[About]) -> dict[str, Any]:
    labelled = [graded([one.opinion for one in item]) for item in _items(some)]
    found = accuracy(labelled)
    counts = {"n": found.n_answerable, "unclear": found.n_unclear, "pending": found.n_pending}
    return {
        "graded": found.graded,
        "strict": found.strict,
        **counts,
        "kappa": primary_agreement(labelled).value,
    }


def _sc3(some: Sequence[About]) -> dict[str, Any]:
    """Success rates a criterion over all objects, and how rollouts end: by the first criterion some
    object fails."""
    items = [[one.opinion for one in item] for item in _items(some)]
    held = [
        (ask.rpartition(".")[2], holds) for item in items for ask, holds in labels(item).items()
    ]
    rates = {
        name: fmean(holds for _, holds in pairs)
        for name, pairs in _by(held, lambda pair: pair[0]).items()
    }
    ends = Counter(str(categorise([ObjectOutcome(**criteria(item))])) for item in items)
    return {**rates, "ends": dict(ends)}

"""From ratings to results: per rater, then the mean; agreement; with and without raters who rated without care."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

import numpy as np
from sqlmodel import Session, select

from evaluators.metrics.agreement import krippendorff_alpha, pairwise_spearman, spearman
from evaluators.metrics.grading import GradedItem, accuracy, primary_agreement
from evaluators.metrics.ranking import Ballot, bws
from evaluators.metrics.rates import PlausibilityRating, SubgoalJudgment, pps, tsr
from infra.tables_study import Rater, Seat, Study, StudyItem
from leaderboard.studies.forms import UNABLE
from leaderboard.studies.quality import Checked, Quality, Rule, checks_of, quality

RESAMPLES = 200
YES = {"yes": 1.0, "no": 0.0, "unclear": 0.0}


@dataclass(frozen=True, slots=True)
class Rated:
    """One rater's answers to one item."""

    item: str
    kind: str
    rater: str
    slot: int
    answers: Mapping[str, Any]
    behind: Mapping[str, Any]
    seconds: float


def ratings(db: Session, study_id: str) -> list[Rated]:
    """Everything handed in, in the items' order."""
    query = (
        select(Seat, StudyItem)
        .join(StudyItem)
        .where(Seat.study_id == study_id, Seat.state == "done")
        .order_by(StudyItem.position, Seat.slot)  # type: ignore[arg-type]
    )
    return [
        Rated(item.id, item.kind, seat.rater_id, seat.slot, seat.answers, item.behind, seat.seconds)
        for seat, item in db.exec(query)
    ]


def care(db: Session, study: Study, given: Sequence[Rated]) -> list[Quality]:
    """Every rater against the study's rule."""
    items = {item.id: item for item in db.exec(select(StudyItem).where(StudyItem.study_id == study.id))}
    rule = Rule(**study.rule)
    everybody = median([one.seconds for one in given]) if given else None
    names = [rater.id for rater in db.exec(select(Rater).where(Rater.study_id == study.id)) if rater.role == "primary"]
    return [
        quality(
            name,
            [check for one in given if one.rater == name for check in _checks(items[one.item], one)],
            [one.seconds for one in given if one.rater == name],
            everybody,
            agreement_with_others(given, name),
            rule,
        )
        for name in names
    ]


def _checks(item: StudyItem, given: Rated) -> list[Checked]:
    return checks_of(item.kind, item.expected, given.answers) if item.expected else []


def agreement_with_others(given: Sequence[Rated], rater: str) -> float | None:
    """How far one rater's closed answers agree with those of the others beyond chance (alpha of the two)."""
    own, rest = dict[tuple[str, str], float](), dict[tuple[str, str], list[float]]()
    for one in given:
        if one.kind != "real":
            continue
        for name, value in _numbers(one.answers).items():
            if one.rater == rater:
                own[one.item, name] = value
            else:
                rest.setdefault((one.item, name), []).append(value)
    shared = [key for key in own if key in rest]
    if len(shared) < 20:
        return None
    pair = [[own[key] for key in shared], [float(median(rest[key])) for key in shared]]
    return krippendorff_alpha(pair, "interval").value


def _numbers(answers: Mapping[str, Any]) -> dict[str, float]:
    """Answers as numbers where they have an order: checks, marks, grades."""
    grades = {"incorrect": 0.0, "partially_correct": 0.5, "correct": 1.0}
    found: dict[str, float] = {}
    for name, value in answers.items():
        if isinstance(value, bool):
            found[name] = float(value)
        elif value in YES:
            found[name] = YES[value]
        elif value in grades:
            found[name] = grades[value]
        elif isinstance(value, str) and value.isdigit():
            found[name] = float(value)
    return found


def agreement(given: Sequence[Rated], seed: int = 0) -> dict[str, Any]:
    """Krippendorff's alpha of the checks and the pairwise rank correlation of the marks, with bootstrap intervals."""
    real = [one for one in given if one.kind == "real"]
    raters = sorted({one.rater for one in real})
    checks = _table(real, raters, lambda value: YES.get(value))
    marks = _table(real, raters, lambda value: float(value) if isinstance(value, str) and value.isdigit() else None)
    return {
        "alpha": _interval(checks, lambda rows: krippendorff_alpha(rows, "nominal").value, seed),
        "spearman": _interval(marks, lambda rows: pairwise_spearman(rows).mean, seed),
        "raters": len(raters),
        "items": len({one.item for one in real}),
    }


def _table(real: Sequence[Rated], raters: Sequence[str], read: Any) -> dict[str, list[list[float | None]]]:
    """For each item its units as columns, one row a rater."""
    row = {name: number for number, name in enumerate(raters)}
    units: dict[str, dict[str, list[float | None]]] = {}
    for one in real:
        for name, value in one.answers.items():
            number = read(value) if isinstance(value, str) else None
            if number is not None:
                units.setdefault(one.item, {}).setdefault(name, [None] * len(raters))[row[one.rater]] = number
    return {item: list(columns.values()) for item, columns in units.items()}


def _interval(table: Mapping[str, list[list[float | None]]], statistic: Any, seed: int) -> dict[str, float | None]:
    """The statistic over all items, and its 95 % interval over resampled items."""
    items = list(table)
    if not items:
        return {"value": None, "low": None, "high": None}
    whole = statistic(_rows([table[item] for item in items]))
    dice = np.random.default_rng(seed)
    draws = [
        statistic(_rows([table[items[number]] for number in dice.integers(0, len(items), len(items))]))
        for _ in range(RESAMPLES)
    ]
    known = [draw for draw in draws if draw is not None]
    low, high = (float(end) for end in np.quantile(known, [0.025, 0.975])) if known else (None, None)
    return {"value": whole, "low": low, "high": high}


def _rows(columns: Sequence[list[list[float | None]]]) -> list[list[float | None]]:
    flat = [column for item in columns for column in item]
    return [list(row) for row in zip(*flat, strict=True)]


def table_of(study: Study, given: Sequence[Rated]) -> dict[str, Any]:
    """A protocol's figures for every method, from these ratings."""
    real = [one for one in given if one.kind == "real"]
    match study.protocol:
        case "liva":
            return _liva(real)
        case "universe":
            return _universe(real, study.raters_per_item)
        case "sc3":
            return _sc3(real)
        case _:
            return _tailor(real)


def _tailor(real: Sequence[Rated]) -> dict[str, Any]:
    """Means of checks and marks a method, per rater then over raters; the board's figures come from the suite."""
    found: dict[str, dict[str, list[float]]] = {}
    for one in real:
        method = one.behind["methods"]["A"]
        for name, value in _numbers(one.answers).items():
            mark = isinstance(one.answers[name], str) and one.answers[name].isdigit()
            found.setdefault(method, {}).setdefault(name if mark else "checks", []).append(value)
    return {method: {name: fmean(values) for name, values in kinds.items()} for method, kinds in found.items()}


def _liva(real: Sequence[Rated]) -> dict[str, Any]:
    methods = sorted({method for one in real for method in one.behind["methods"].values()})
    ballots = [_ballot(one) for one in real]
    order = {standing.method: asdict(standing) for standing in bws(methods, ballots).standings}
    return {
        method: {
            "tsr": tsr([judgment for one in real for judgment in _subgoals(one, method)]).value,
            "pps": pps([rating for one in real for rating in _plausible(one, method)]).value,
            "bws": order[method]["score"],
            "rank": order[method]["rank"],
            "n": order[method]["n_shown"],
        }
        for method in methods
    }


def _ballot(one: Rated) -> Ballot:
    methods = one.behind["methods"]
    unable = one.answers.get(UNABLE) is True
    best, worst = methods.get(one.answers.get("best")), methods.get(one.answers.get("worst"))
    return Ballot(tuple(methods.values()), None if unable else best, None if unable else worst, unable)


def _subgoals(one: Rated, method: str) -> list[SubgoalJudgment]:
    letter = next((letter for letter, name in one.behind["methods"].items() if name == method), None)
    goals = [value for name, value in one.answers.items() if name.startswith(f"{letter}.goal")]
    total = int(one.behind.get("subgoals", 0)) or len(goals)
    unable = one.answers.get(UNABLE) is True
    return [SubgoalJudgment(one.item, one.rater, sum(goals), total, unable)] if letter and total else []


def _plausible(one: Rated, method: str) -> list[PlausibilityRating]:
    letter = next((letter for letter, name in one.behind["methods"].items() if name == method), None)
    mark = one.answers.get(f"{letter}.pps")
    unable = one.answers.get(UNABLE) is True
    return (
        [PlausibilityRating(f"{one.item} {method}", one.rater, float(mark) if mark else None, unable)] if letter else []
    )


def _universe(real: Sequence[Rated], primaries: int) -> dict[str, Any]:
    items: dict[tuple[str, str], dict[int, str]] = {}
    for one in real:
        items.setdefault((one.behind["methods"]["A"], one.item), {})[one.slot] = str(one.answers.get("grade"))
    found: dict[str, list[GradedItem]] = {}
    for (method, _), grades in items.items():
        found.setdefault(method, []).append(GradedItem(grades.get(0), grades.get(1), grades.get(primaries)))
    return {method: {**_accuracy(graded), "kappa": primary_agreement(graded).value} for method, graded in found.items()}


def _accuracy(graded: Sequence[GradedItem]) -> dict[str, Any]:
    scored = accuracy(graded)
    return {"graded": scored.graded, "strict": scored.strict, "n": scored.n_answerable, "pending": scored.n_pending}


def _sc3(real: Sequence[Rated]) -> dict[str, Any]:
    """Success rates a method and criterion, and how trajectories end: by the first criterion that some object fails."""
    found: dict[str, dict[str, list[float]]] = {}
    ends: dict[str, dict[str, int]] = {}
    for one in real:
        method = one.behind["methods"]["A"]
        held = dict[str, list[bool]]()
        for name, value in one.answers.items():
            criterion = name.rpartition(".")[2]
            held.setdefault(criterion, []).append(value == "yes")
            found.setdefault(method, {}).setdefault(criterion, []).append(float(value == "yes"))
        end = next((f"{name}_failure" for name in ("language_following", "object_lifting", "object_placing")
                    if not all(held.get(name, [True]))), "no_failure")  # fmt: skip
        ends.setdefault(method, {}).setdefault(end, 0)
        ends[method][end] += 1
    return {
        method: {**{name: fmean(values) for name, values in rates.items()}, "ends": ends[method]}
        for method, rates in found.items()
    }


def judge_and_people(pairs: Sequence[tuple[float, float]]) -> dict[str, float | None]:
    """How a judge's scores of single samples go with people's: rank correlation, and how much higher it is."""
    if len(pairs) < 3:
        return {"spearman": None, "difference": None, "n": float(len(pairs))}
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    return {"spearman": spearman(first, second), "difference": fmean(first) - fmean(second), "n": float(len(pairs))}

"""What raters said, read from their places, and how carefully each of them rated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlmodel import Session, select

from evaluators.contracts import Opinion
from evaluators.statistics.agreement import krippendorff_alpha
from infra.tables.study import Rater, Seat, Study, StudyItem
from leaderboard.studies.quality import ExclusionRule, GoldAnswer, Quality, checks_of, quality

YES = {"yes": 1.0, "no": 0.0, "unclear": 0.0}
GRADES = {"incorrect": 0.0, "partially_correct": 0.5, "correct": 1.0}
CHOSEN = ("best", "worst")


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One rater's answers to one item; an adjudicator's settle what the others say."""

    item: str
    kind: str
    rater: str
    slot: int
    answers: Mapping[str, Any]
    behind: Mapping[str, Any]
    seconds: float
    settles: bool = False


@dataclass(frozen=True, slots=True)
class About:
    """One rater's opinion of one method's output for one sample."""

    method: str
    sample: str
    opinion: Opinion


def ratings(db: Session, study: Study) -> list[RatedItem]:
    """Everything handed in, in the items' order."""
    query = (
        select(Seat, StudyItem)
        .join(StudyItem)
        .where(Seat.study_id == study.id, Seat.state == "done")
        .order_by(StudyItem.position, Seat.slot)  # type: ignore[arg-type]
    )
    return [
        RatedItem(
            item.id,
            item.kind,
            seat.rater_id,
            seat.slot,
            seat.answers,
            item.behind,
            seat.seconds,
            seat.slot >= study.raters_per_item,
        )
        for seat, item in db.exec(query)
    ]


def opinions(given: Sequence[RatedItem]) -> list[About]:
    """What real items say of each output they show, whether alone or beside others."""
    return [about for one in given if one.kind == "real" for about in _split(one)]


def _split(one: RatedItem) -> Iterator[About]:
    methods = one.behind["methods"]
    samples = one.behind.get("samples") or dict.fromkeys(methods, one.behind.get("sample", ""))
    for letter, method in methods.items():
        answers = dict(_about(letter, methods, one.answers))
        yield About(
            method, samples[letter], Opinion(one.item, one.rater, one.slot, answers, one.settles)
        )


def _about(
    letter: str, methods: Mapping[str, str], answers: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The answers about one letter, and those about the whole; of best and worst, whether it is
    this one."""
    for name, value in answers.items():
        first, dot, rest = name.partition(".")
        if name in CHOSEN:
            yield name, value == letter
        elif not (dot and first in methods):
            yield name, value
        elif first == letter:
            yield rest, value


def care(db: Session, study: Study, given: Sequence[RatedItem]) -> list[Quality]:
    """Every rater against the study's rule."""
    items = {
        item.id: item for item in db.exec(select(StudyItem).where(StudyItem.study_id == study.id))
    }
    rule = ExclusionRule(**study.rule)
    everybody = median([one.seconds for one in given]) if given else None
    names = [
        rater.id
        for rater in db.exec(select(Rater).where(Rater.study_id == study.id))
        if rater.role == "primary"
    ]
    return [
        quality(
            name,
            [
                check
                for one in given
                if one.rater == name
                for check in _checks(items[one.item], one)
            ],
            [one.seconds for one in given if one.rater == name],
            everybody,
            agreement_with_others(given, name),
            rule,
        )
        for name in names
    ]


def _checks(item: StudyItem, given: RatedItem) -> list[GoldAnswer]:
    return checks_of(item.kind, item.expected, given.answers) if item.expected else []


def agreement_with_others(given: Sequence[RatedItem], rater: str) -> float | None:
    """How far one rater's closed answers agree with those of the others beyond chance (alpha of the
    two)."""
    own, rest = dict[tuple[str, str], float](), dict[tuple[str, str], list[float]]()
    for one in given:
        if one.kind != "real":
            continue
        for name, value in numbers(one.answers).items():
            if one.rater == rater:
                own[one.item, name] = value
            else:
                rest.setdefault((one.item, name), []).append(value)
    shared = [key for key in own if key in rest]
    if len(shared) < 20:
        return None
    pair = [[own[key] for key in shared], [float(median(rest[key])) for key in shared]]
    return krippendorff_alpha(pair, "interval").value


def numbers(answers: Mapping[str, Any]) -> dict[str, float]:
    """Answers as numbers where they have an order: checks, marks, grades."""
    found: dict[str, float] = {}
    for name, value in answers.items():
        if isinstance(value, bool):
            found[name] = float(value)
        elif value in YES:
            found[name] = YES[value]
        elif value in GRADES:
            found[name] = GRADES[value]
        elif isinstance(value, str) and value.isdigit():
            found[name] = float(value)
    return found

"""What raters said, read from their places, and how carefully each of them rated."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sqlmodel import Session, select

from evaluators.contracts import RatedItem
from evaluators.statistics.agreement import krippendorff_alpha
from evaluators.statistics.opinions import numbers
from infra.tables.study import Rater, Seat, Study, StudyItem
from leaderboard.studies.quality import ExclusionRule, GoldAnswer, Quality, checks_of, quality


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


def care(db: Session, study: Study, rated_items: Sequence[RatedItem]) -> list[Quality]:
    """Every rater against the study's rule."""
    items = {
        item.id: item for item in db.exec(select(StudyItem).where(StudyItem.study_id == study.id))
    }
    rule = ExclusionRule(**study.rule)
    everybody = median([rated.seconds for rated in rated_items]) if rated_items else None
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
                for rated in rated_items
                if rated.rater == name
                for check in _checks(items[rated.item], rated)
            ],
            [rated.seconds for rated in rated_items if rated.rater == name],
            everybody,
            agreement_with_others(rated_items, name),
            rule,
        )
        for name in names
    ]


def _checks(item: StudyItem, rated: RatedItem) -> list[GoldAnswer]:
    return checks_of(item.kind, item.expected, rated.answers) if item.expected else []


def agreement_with_others(rated_items: Sequence[RatedItem], rater: str) -> float | None:
    """How far one rater's closed answers agree with those of the others beyond chance (alpha of the
    two)."""
    own, values_of_others = dict[tuple[str, str], float](), dict[tuple[str, str], list[float]]()
    for rated in rated_items:
        if rated.kind != "real":
            continue
        for name, value in numbers(rated.answers).items():
            if rated.rater == rater:
                own[rated.item, name] = value
            else:
                values_of_others.setdefault((rated.item, name), []).append(value)
    shared = [key for key in own if key in values_of_others]
    if len(shared) < 20:
        return None
    pair = [[own[key] for key in shared], [float(median(values_of_others[key])) for key in shared]]
    return krippendorff_alpha(pair, "interval").value

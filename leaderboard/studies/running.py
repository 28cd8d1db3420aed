"""What an operator does with a study: invite raters, open it, close it, and order what no page can
do."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col, select

from infra.db import add_new
from infra.tables import now
from infra.tables.study import Rater, RaterContact, Seat, Study, StudyItem, StudyOrder
from leaderboard.studies.assignment import AssignedItem, CannotAssign, Person, deal
from leaderboard.studies.desk import EXAMPLE, rated_item, token_sha256
from leaderboard.studies.states import TURNS, StudyError

ORDERS = ("create", "publish")


def invite(
    db: Session, study_id: str, count: int, team: str = "", role: str = "primary", email: str = ""
) -> list[str]:
    """New raters of a study in draft; what is returned are their keys, shown once and kept
    nowhere."""
    keys = [secrets.token_urlsafe(24) for _ in range(count)]
    study = named(db, study_id)
    if study.state != "draft":
        raise StudyError(
            f"{study_id} is {study.state}: raters are invited before it opens, so that loads stay "
            "even."
        )
    first = len(db.exec(select(Rater).where(Rater.study_id == study_id)).all())
    for number, key in enumerate(keys, first + 1):
        rater = Rater(
            id=f"r-{secrets.token_hex(4)}",
            study_id=study_id,
            number=number,
            token_sha256=token_sha256(key),
            team=team,
            role=role,
        )
        db.add(rater)
        db.flush()
        if email:
            db.add(RaterContact(rater_id=rater.id, email=email))
    return keys


def move(db: Session, study_id: str, to: str) -> None:
    """Bring a study to its next state; opening deals the items out."""
    study = named(db, study_id)
    if to not in TURNS[study.state]:
        ways = " or ".join(TURNS[study.state]) or "nothing more"
        raise StudyError(f"{study_id} is {study.state}; from there it goes to {ways}.")
    if study.state == "draft":
        _deal(db, study)
    stamp = {"open": "opened_at", "closed": "closed_at", "published": "published_at"}[to]
    values = {"state": to, stamp: now()}
    db.connection().execute(update(Study).where(col(Study.id) == study_id).values(**values))


def order(
    db: Session, kind: str, study_id: str, parameters: Mapping[str, Any] | None = None
) -> None:
    """Leave word for the intake flow: outputs are fetched and scored there, never by a page."""
    if kind not in ORDERS:
        raise StudyError(f"{kind!r} cannot be ordered. Use one of {', '.join(ORDERS)}.")
    if kind == "publish" and named(db, study_id).state not in ("closed", "published"):
        raise StudyError(f"{study_id} is {named(db, study_id).state}: close it, then publish it.")
    db.add(StudyOrder(kind=kind, study_id=study_id, wanted=dict(parameters or {})))


def orders(db: Session, limit: int = 10) -> list[StudyOrder]:
    """The last orders, newest first."""
    return list(db.exec(select(StudyOrder).order_by(col(StudyOrder.id).desc()).limit(limit)))


def named(db: Session, study_id: str) -> Study:
    """A study by its id."""
    study = db.get(Study, study_id)
    if study is None:
        raise StudyError(f"There is no study {study_id!r}. `armillary study list` shows them.")
    return study


def _deal(db: Session, study: Study) -> None:
    dealt = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.kind != EXAMPLE)
    tasks = [rated_item(item) for item in db.exec(dealt)]
    raters = db.exec(select(Rater).where(Rater.study_id == study.id, Rater.role == "primary")).all()
    try:
        places = deal(
            tasks,
            [Person(rater.id, rater.team) for rater in raters],
            study.raters_per_item,
            study.seed,
        )
    except CannotAssign as error:
        raise StudyError(str(error)) from None
    add_new(db, Seat, [_seat(study, place) for place in places])


def _seat(study: Study, place: AssignedItem) -> dict[str, Any]:
    row = Seat(
        item_id=place.item,
        slot=place.slot,
        study_id=study.id,
        rater_id=place.rater,
        turn=place.turn,
        order=place.order,
    )
    return row.model_dump()

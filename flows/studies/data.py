"""Ratings in and out of a study, and forgetting a rater: no personal field ever leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import delete
from sqlmodel import col, select

from flows.studies.board import publish
from infra.db import session
from infra.settings import Settings
from infra.tables import now
from infra.tables.study import Rater, RaterContact, Seat, SeatEvent, Study, StudyItem
from leaderboard.studies.forms import form_of, problems
from leaderboard.studies.running import named
from leaderboard.studies.states import StudyError

NOTHING = "Nothing was taken in."


@dataclass(frozen=True, slots=True)
class RaterAnswers:
    """What a rater answered about an item."""

    item: str
    rater: str
    answers: dict[str, Any]
    comment: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ExportedRating:
    """A rating as it leaves: under a pseudonym, with the methods and samples behind its letters."""

    study: str
    item: str
    kind: str
    rater: str
    slot: int
    answers: dict[str, Any]
    comment: str
    seconds: float
    methods: dict[str, str]
    samples: dict[str, str]


def exported(settings: Settings, study_id: str) -> Iterator[dict[str, Any]]:
    """One line an item and rater: what was answered, under pseudonyms, with what was shown."""
    with session(settings.database) as db:
        query = (
            select(Seat, StudyItem)
            .join(StudyItem)
            .where(Seat.study_id == study_id, Seat.state == "done")
        )
        for seat, item in db.exec(query.order_by(col(StudyItem.position), col(Seat.slot))):
            line = ExportedRating(
                study=study_id,
                item=item.id,
                kind=item.kind,
                rater=seat.rater_id,
                slot=seat.slot,
                answers=seat.answers,
                comment=seat.comment,
                seconds=round(seat.seconds, 1),
                methods=item.behind.get("methods", {}),
                samples=item.behind.get("samples", {}),
            )
            yield asdict(line)


def import_ratings(settings: Settings, study_id: str, path: Path) -> int:
    """Take in ratings made elsewhere (JSONL: item, rater, answers); each is checked like one from
    the page."""
    ratings = [_rating(path, number, line) for number, line in enumerate(_lines(path), 1)]
    with session(settings.database) as db:
        study = named(db, study_id)
        if study.state != "open":
            raise StudyError(
                f"{study_id} is {study.state}: ratings come in while it is open. `armillary study "
                "open`."
            )
        for number, rating in enumerate(ratings, 1):
            where = f"Line {number} of {path.name}"
            query = select(Seat).where(Seat.item_id == rating.item, Seat.rater_id == rating.rater)
            seat, item = db.exec(query).first(), db.get(StudyItem, rating.item)
            if seat is None or item is None:
                raise StudyError(
                    f"{where}: the item {rating.item!r} is not {rating.rater!r}'s. {NOTHING}"
                )
            if wrong := problems(form_of(item.form), rating.answers):
                raise StudyError(f"{where}: {wrong[0]} {NOTHING}")
            seat.answers, seat.state, seat.done_at = rating.answers, "done", now()
            seat.comment, seat.seconds = rating.comment, rating.seconds
            db.add(seat)
    return len(ratings)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise StudyError(
            f"{path.name} is not text in UTF-8. Write one rating a line, as JSON. {NOTHING}"
        ) from None


def _rating(path: Path, number: int, line: str) -> RaterAnswers:
    try:
        line_fields = json.loads(line)
        item, rater, answers = (
            line_fields["item"],
            line_fields["rater"],
            dict(line_fields["answers"]),
        )
        seconds = float(line_fields.get("seconds", 0.0))
    except (ValueError, KeyError, TypeError):
        item = rater = None
    if not isinstance(item, str) or not isinstance(rater, str):
        raise StudyError(
            f"Line {number} of {path.name} has no item, rater and answers as JSON. {NOTHING}"
        )
    return RaterAnswers(item, rater, answers, str(line_fields.get("comment", "")), seconds)


def forget_contact(settings: Settings, study_id: str) -> int:
    """Delete every e-mail address of a study."""
    with session(settings.database) as db:
        named(db, study_id)
        ids = list(db.exec(select(Rater.id).where(Rater.study_id == study_id)))
        return int(
            db.connection()
            .execute(delete(RaterContact).where(col(RaterContact.rater_id).in_(ids)))
            .rowcount
        )


def erase(settings: Settings, rater_id: str) -> int:
    """Remove a rater and everything they said; a published study's results are computed again
    without them."""
    with session(settings.database) as db:
        rater = db.get(Rater, rater_id)
        if rater is None:
            raise StudyError(
                f"There is no rater {rater_id!r}. `armillary study export` names those who rated."
            )
        study_id = rater.study_id
        erased = (
            db.connection().execute(delete(Seat).where(col(Seat.rater_id) == rater_id)).rowcount
        )
        for table in (SeatEvent, RaterContact):
            db.connection().execute(delete(table).where(col(table.rater_id) == rater_id))
        db.connection().execute(delete(Rater).where(col(Rater.id) == rater_id))
        study = db.get(Study, study_id)
        published = study is not None and study.state == "published"
    if published:
        publish(settings, study_id)
    return int(erased)

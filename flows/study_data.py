"""Ratings in and out of a study, and forgetting a rater: no personal field ever leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import delete
from sqlmodel import col, select

from flows.study_board import publish
from infra.db import session
from infra.settings import Settings
from infra.tables import now
from infra.tables_study import Rater, RaterContact, Seat, SeatEvent, Study, StudyItem
from leaderboard.studies.forms import form_of, problems
from leaderboard.studies.states import StudyError


def exported(settings: Settings, study_id: str) -> Iterator[dict[str, Any]]:
    """One line an item and rater: what was answered, under pseudonyms, with what was shown."""
    with session(settings.database) as db:
        query = select(Seat, StudyItem).join(StudyItem).where(Seat.study_id == study_id, Seat.state == "done")
        for seat, item in db.exec(query.order_by(col(StudyItem.position), col(Seat.slot))):
            yield {
                "study": study_id,
                "item": item.id,
                "kind": item.kind,
                "rater": seat.rater_id,
                "slot": seat.slot,
                "answers": seat.answers,
                "comment": seat.comment,
                "seconds": round(seat.seconds, 1),
                "methods": item.behind.get("methods", {}),
                "samples": item.behind.get("samples", {}),
            }


def import_ratings(settings: Settings, study_id: str, path: Path) -> int:
    """Take in ratings made elsewhere (JSONL: item, rater, answers); each is checked like one from the page."""
    lines = path.read_text("utf-8").splitlines()
    with session(settings.database) as db:
        study = db.get(Study, study_id)
        if study is None or study.state != "open":
            raise StudyError(
                f"{study_id} is {study.state if study else 'not there'}: ratings come in while it is open."
            )
        for number, line in enumerate(lines, 1):
            try:
                given = json.loads(line)
                seat = db.exec(
                    select(Seat).where(Seat.item_id == given["item"], Seat.rater_id == given["rater"])
                ).first()
                item = db.get(StudyItem, given["item"])
                answers = dict(given["answers"])
            except (ValueError, KeyError, TypeError):
                raise StudyError(f"Line {number} has no item, rater and answers. Nothing was taken in.") from None
            if seat is None or item is None:
                raise StudyError(f"Line {number}: this item is not this rater's. Nothing was taken in.")
            wrong = problems(form_of(item.form), answers)
            if wrong:
                raise StudyError(f"Line {number}: {wrong[0]} Nothing was taken in.")
            seat.answers, seat.state, seat.done_at = answers, "done", now()
            seat.comment, seat.seconds = str(given.get("comment", "")), float(given.get("seconds", 0.0))
            db.add(seat)
    return len(lines)


def forget_contact(settings: Settings, study_id: str) -> int:
    """Delete every e-mail address of a study."""
    with session(settings.database) as db:
        ids = list(db.exec(select(Rater.id).where(Rater.study_id == study_id)))
        return int(db.connection().execute(delete(RaterContact).where(col(RaterContact.rater_id).in_(ids))).rowcount)


def erase(settings: Settings, rater_id: str) -> int:
    """Remove a rater and everything they said; a published study's results are computed again without them."""
    with session(settings.database) as db:
        rater = db.get(Rater, rater_id)
        if rater is None:
            raise StudyError(f"There is no rater {rater_id!r}.")
        study_id = rater.study_id
        gone = db.connection().execute(delete(Seat).where(col(Seat.rater_id) == rater_id)).rowcount
        for table in (SeatEvent, RaterContact):
            db.connection().execute(delete(table).where(col(table.rater_id) == rater_id))
        db.connection().execute(delete(Rater).where(col(Rater.id) == rater_id))
        study = db.get(Study, study_id)
        published = study is not None and study.state == "published"
    if published:
        publish(settings, study_id)
    return int(gone)

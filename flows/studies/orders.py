"""What operators ordered on the page: studies to be made and to be published, carried out one after
the other."""

from __future__ import annotations

import logging

from sqlalchemy import update
from sqlmodel import col, select

from flows.studies.board import publish
from flows.studies.create import StudyPlan, create, places_of
from flows.studies.items import items_of_board
from infra.db import session
from infra.settings import Settings
from infra.tables.study import StudyOrder
from leaderboard.studies.states import StudyError

log = logging.getLogger("armillary")


def carry_out(settings: Settings) -> list[str]:
    """Do all that waits; each order is taken by one only, and what became of it stands beside
    it."""
    with session(settings.database) as db:
        waiting = list(
            db.exec(
                select(StudyOrder).where(StudyOrder.state == "waiting").order_by(col(StudyOrder.id))
            )
        )
        db.expunge_all()
    return [
        _carried(settings, one) for one in waiting if _set(settings, one, "waiting", "in work", "")
    ]


def _carried(settings: Settings, one: StudyOrder) -> str:
    try:
        text = _create(settings, one) if one.kind == "create" else _publish(settings, one)
        state = "done"
    except StudyError as error:
        state, text = "refused", str(error)
    except Exception as error:
        log.exception("order %s", one.id)
        state, text = "failed", f"{type(error).__name__} on our side; it is in the log."
    _set(settings, one, "in work", state, text)
    return f"{one.kind} {one.study_id}: {text}"


def _create(settings: Settings, one: StudyOrder) -> str:
    asked = one.wanted
    suite, seed = str(asked["suite"]), int(asked.get("seed", 0))
    items = items_of_board(
        settings, suite, list(asked["submissions"]), int(asked.get("most", 60)), seed
    )
    each = places_of(suite, asked.get("each"))
    plan = StudyPlan(
        one.study_id, suite, suite, str(asked.get("title") or one.study_id), each=each, seed=seed
    )
    return f"{create(settings, plan, items)} items, in draft."


def _publish(settings: Settings, one: StudyOrder) -> str:
    result = publish(settings, one.study_id)
    out = sum(bool(rater["left_out"]) for rater in result["raters"])
    return f"Published: {len(result['raters'])} raters, {out} left out by the rule."


def _set(settings: Settings, one: StudyOrder, before: str, state: str, text: str) -> bool:
    mine = (col(StudyOrder.id) == one.id, col(StudyOrder.state) == before)
    with session(settings.database) as db:
        done = db.connection().execute(
            update(StudyOrder).where(*mine).values(state=state, text=text)
        )
        return done.rowcount == 1

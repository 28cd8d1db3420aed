"""What operators ordered on the page: studies to be made and to be published, carried out one after
the other."""

from __future__ import annotations

import logging

from sqlalchemy import update
from sqlmodel import col, select

from flows.studies.board import publish
from flows.studies.create import StudyPlan, create
from flows.studies.items import items_of_board
from flows.studies.protocols import places_of
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
        _carried(settings, order)
        for order in waiting
        if _set(settings, order, "waiting", "in work", "")
    ]


def _carried(settings: Settings, order: StudyOrder) -> str:
    try:
        text = _create(settings, order) if order.kind == "create" else _publish(settings, order)
        state = "done"
    except StudyError as error:
        state, text = "refused", str(error)
    except Exception as error:
        log.exception("order %s", order.id)
        state, text = "failed", f"{type(error).__name__} on our side; it is in the log."
    _set(settings, order, "in work", state, text)
    return f"{order.kind} {order.study_id}: {text}"


def _create(settings: Settings, order: StudyOrder) -> str:
    parameters = order.wanted
    suite, seed = str(parameters["suite"]), int(parameters.get("seed", 0))
    items = items_of_board(
        settings,
        suite,
        list(parameters["submissions"]),
        parameters.get("most"),
        seed,
        str(parameters.get("subset", "")),
    )
    places = places_of(suite, parameters.get("each"))
    plan = StudyPlan(
        order.study_id,
        suite,
        suite,
        str(parameters.get("title") or order.study_id),
        raters_per_item=places,
        seed=seed,
    )
    return f"{create(settings, plan, items)} items, in draft."


def _publish(settings: Settings, order: StudyOrder) -> str:
    result = publish(settings, order.study_id)
    out = sum(bool(rater["left_out"]) for rater in result["raters"])
    return f"Published: {len(result['raters'])} raters, {out} left out by the rule."


def _set(settings: Settings, order: StudyOrder, before: str, state: str, text: str) -> bool:
    mine = (col(StudyOrder.id) == order.id, col(StudyOrder.state) == before)
    with session(settings.database) as db:
        result = db.connection().execute(
            update(StudyOrder).where(*mine).values(state=state, text=text)
        )
        return result.rowcount == 1

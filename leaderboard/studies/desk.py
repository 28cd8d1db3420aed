"""The desk of a study: who comes in, what is next for them, and what they answered. Every step is
one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, update
from sqlmodel import Session, col, select

from infra.db import claim
from infra.tables import now
from infra.tables.study import Rater, Seat, SeatEvent, Study, StudyItem
from leaderboard.studies.assignment import ItemToAssign, Person, heir, shuffled
from leaderboard.studies.forms import Form, compared, form_of, lettered, problems, unlettered
from leaderboard.studies.protocols import protocol_named

EXAMPLE = "example"
"""The kind of an item that nobody rates: raters can look it up with its right answers."""


class NotYours(Exception):
    """This item is not the rater's to answer, or not any more; the message says what to do."""


@dataclass(frozen=True, slots=True)
class DeskItem:
    """One item on a rater's desk, with what they had answered so far."""

    item_id: str
    form: Form
    answers: Mapping[str, Any]
    comment: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Example:
    """An item with its right answers, and why they are."""

    form: Form
    answers: Mapping[str, Any]
    why: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rater is, in all and in this session."""

    finished: int
    total: int
    session_finished: int
    session_total: int


def token_sha256(token: str) -> str:
    """How a key is kept."""
    return hashlib.sha256(token.encode()).hexdigest()


def come_in(db: Session, token: str) -> Rater | None:
    """The rater whose key this is, if their study is open."""
    rater = db.exec(select(Rater).where(Rater.token_sha256 == token_sha256(token))).first()
    study = db.get(Study, rater.study_id) if rater else None
    return rater if study and study.state == "open" else None


def consent(db: Session, rater_id: str, version: str) -> None:
    """Note that a rater agreed, to which text, and when."""
    db.connection().execute(
        update(Rater)
        .where(col(Rater.id) == rater_id)
        .values(consent_version=version, consented_at=now())
    )


def next_turn(db: Session, rater: Rater) -> DeskItem | None:
    """What lies on the rater's desk: what they had begun, or the next in their order; None when all
    is done."""
    study = db.get(Study, rater.study_id)
    assert study is not None
    release(db, study)
    mine = select(Seat).where(
        Seat.rater_id == rater.id, col(Seat.state).in_(["started", "waiting"])
    )
    seat = db.exec(mine.order_by(col(Seat.state), col(Seat.turn))).first()
    if seat is None:
        return None
    if seat.state == "waiting":
        seat.state, seat.started_at = "started", now() - timedelta(seconds=seat.seconds)
    seat.seen_at = now()
    db.add(seat)
    db.flush()
    item = db.get(StudyItem, seat.item_id)
    assert item is not None and seat.started_at is not None
    return DeskItem(
        seat.item_id,
        lettered(form_of(item.form), seat.order),
        _relettered_answers(seat),
        seat.comment,
        seat.started_at,
    )


def _relettered_answers(seat: Seat) -> dict[str, Any]:
    """Answers are kept under true letters; the rater sees their own."""
    if not seat.order:
        return dict(seat.answers)
    back = "".join(sorted(seat.order))
    inverse = "".join(back[seat.order.index(letter)] for letter in back)
    return unlettered(seat.answers, inverse)


def save(
    db: Session, rater: Rater, item_id: str, answers: Mapping[str, Any], comment: str = ""
) -> None:
    """Keep what is filled in so far."""
    seat = _seat(db, rater, item_id)
    seat.answers, seat.comment, seat.seen_at = unlettered(answers, seat.order), comment, now()
    db.add(seat)


def hand_in(
    db: Session, rater: Rater, item_id: str, answers: Mapping[str, Any], comment: str = ""
) -> list[str]:
    """Finish an item; what is missing is returned in words and nothing is finished then."""
    seat = _seat(db, rater, item_id)
    item = db.get(StudyItem, item_id)
    assert item is not None and seat.started_at is not None
    true = unlettered(answers, seat.order)
    missing = problems(form_of(item.form), true)
    if missing:
        return missing
    moment = now()
    seat.answers, seat.comment, seat.state, seat.done_at = true, comment, "done", moment
    seat.seconds = (moment - seat.started_at).total_seconds()
    db.add(seat)
    db.add(SeatEvent(item_id=item_id, rater_id=rater.id, kind="handed in", answers=true))
    db.flush()
    _call_adjudicator(db, item)
    return []


def _seat(db: Session, rater: Rater, item_id: str) -> Seat:
    seat = db.exec(select(Seat).where(Seat.item_id == item_id, Seat.rater_id == rater.id)).first()
    if seat is None or seat.state != "started":
        raise NotYours(
            "This item is no longer open for you: it was handed in, or left for too long. Go on to "
            "the next."
        )
    return seat


def pause(db: Session, rater: Rater) -> None:
    """Put what is begun back on the pile as it is; the time until it is taken up again does not
    count."""
    begun = select(Seat).where(Seat.rater_id == rater.id, Seat.state == "started")
    for seat in db.exec(begun).all():
        assert seat.started_at is not None
        seat.seconds, seat.state = (now() - seat.started_at).total_seconds(), "waiting"
        db.add(seat)


def undo(db: Session, rater: Rater) -> bool:
    """Take the last item back onto the desk, with its answers; False if there is none."""
    last = db.exec(
        select(Seat)
        .where(Seat.rater_id == rater.id, Seat.state == "done")
        .order_by(col(Seat.done_at).desc())
    ).first()
    if last is None:
        return False
    waiting = update(Seat).where(col(Seat.rater_id) == rater.id, col(Seat.state) == "started")
    db.connection().execute(waiting.values(state="waiting"))
    last.state, last.started_at, last.seen_at, last.done_at = "started", now(), now(), None
    db.add(last)
    db.add(
        SeatEvent(item_id=last.item_id, rater_id=rater.id, kind="taken back", answers=last.answers)
    )
    return True


def examples(db: Session, study_id: str) -> list[Example]:
    """The study's reference examples, in their order."""
    query = select(StudyItem).where(StudyItem.study_id == study_id, StudyItem.kind == EXAMPLE)
    rows = db.exec(query.order_by(col(StudyItem.position)))
    return [
        Example(form_of(row.form), row.expected, str(row.behind.get("why", ""))) for row in rows
    ]


def progress(db: Session, rater: Rater) -> Progress:
    """How many of the rater's items are done, in all and since the last full session."""
    study = db.get(Study, rater.study_id)
    assert study is not None
    counted = select(Seat.state, func.count()).where(Seat.rater_id == rater.id).group_by(Seat.state)
    states = {state: int(count) for state, count in db.execute(counted)}
    finished, total = states.get("done", 0), sum(states.values())
    first = finished - finished % study.session_items
    return Progress(finished, total, finished - first, min(study.session_items, total - first))


def release(db: Session, study: Study, moment: datetime | None = None) -> int:
    """Hand on every item that was begun and left; what was filled in stays in the log."""
    before = (moment or now()) - timedelta(minutes=study.minutes)
    left = select(Seat).where(
        Seat.study_id == study.id, Seat.state == "started", col(Seat.seen_at) < before
    )
    return sum(_hand_on(db, study, seat) for seat in db.exec(left).all())


def _hand_on(db: Session, study: Study, seat: Seat) -> bool:
    """The place goes to somebody else if anybody can take it, else back to the one who left it."""
    item = db.get(StudyItem, seat.item_id)
    assert item is not None
    seated = list(db.exec(select(Seat.rater_id).where(Seat.item_id == seat.item_id)))
    role = db.exec(select(Rater.role).where(Rater.id == seat.rater_id)).one()
    people = db.exec(select(Rater).where(Rater.study_id == study.id, Rater.role == role)).all()
    query = select(Seat.rater_id, func.count()).where(
        Seat.study_id == study.id, Seat.state != "done"
    )
    loads = {name: int(count) for name, count in db.execute(query.group_by(Seat.rater_id))}
    taker = (
        heir(
            rated_item(item),
            seated,
            [Person(rater.id, rater.team) for rater in people],
            loads,
            study.seed,
        )
        or seat.rater_id
    )
    db.add(
        SeatEvent(item_id=seat.item_id, rater_id=seat.rater_id, kind="left", answers=seat.answers)
    )
    turn = db.execute(select(func.max(Seat.turn)).where(Seat.rater_id == taker)).scalar_one()
    order = shuffled(compared(form_of(item.form)), study.seed, taker, item.id)
    unchanged = (
        col(Seat.item_id) == seat.item_id,
        col(Seat.slot) == seat.slot,
        col(Seat.seen_at) == seat.seen_at,
    )
    fresh: dict[str, Any] = {
        "rater_id": taker,
        "state": "waiting",
        "turn": (turn or 0) + 1,
        "order": order,
        "answers": {},
    }
    result = db.connection().execute(
        update(Seat).where(*unchanged).values(**fresh, comment="", started_at=None)
    )
    db.expire(seat)
    return result.rowcount == 1


def rated_item(item: StudyItem) -> ItemToAssign:
    """A study item as the assignment of raters sees it."""
    return ItemToAssign(
        item.id, frozenset(item.behind.get("teams", ())), compared(form_of(item.form))
    )


def _call_adjudicator(db: Session, item: StudyItem) -> None:
    """Give an item to the adjudicator when its primary raters disagree or answer unclear."""
    study = db.get(Study, item.study_id)
    if study is None or item.kind != "real":
        return
    if not protocol_named(db, study.protocol).adjudicated:
        return
    seats = db.exec(select(Seat).where(Seat.item_id == item.id)).all()
    adjudicators = db.exec(
        select(Rater)
        .where(Rater.study_id == study.id, Rater.role == "adjudicator")
        .order_by(col(Rater.number))
    ).all()
    judged = len(seats) == study.raters_per_item and all(seat.state == "done" for seat in seats)
    if not judged or not adjudicators or _settled([seat.answers for seat in seats]):
        return
    turns = db.execute(select(func.count()).where(Seat.rater_id == adjudicators[0].id)).scalar_one()
    row = Seat(
        item_id=item.id,
        slot=study.raters_per_item,
        study_id=study.id,
        rater_id=adjudicators[0].id,
        turn=int(turns),
    )
    claim(db, Seat, row.model_dump())


def _settled(answers: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all say the same, and know what they say."""
    return all(answer == answers[0] for answer in answers) and "unclear" not in answers[0].values()

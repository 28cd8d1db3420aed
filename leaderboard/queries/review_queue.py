"""The review queue of a curation: what waits, what failed, and writing down what people decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, update
from sqlmodel import Session, col, select

from infra.db import add_new
from infra.tables import CurationCall, Draft, now
from submissions.format.suggestions import no_such

STATUSES = ("candidate", "kept", "edited", "dropped")
NEED_REASON = ("edited", "dropped")
LONGEST = 2000
LONGEST_NAME = 80


class NotDecided(ValueError):
    """The decision was not taken; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Queued:
    """One draft as a reviewer sees it: its words now, and what they were."""

    id: str
    curation: str
    step: int
    kind: str
    task_id: str
    where: str
    words: Mapping[str, Any]
    original: Mapping[str, Any]
    context: Mapping[str, str]
    note: str
    status: str
    reviewer: str
    reason: str
    model: str
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A question to which no usable reply came."""

    step: str
    subject: str
    status: str
    reason: str
    raw: str
    tries: int
    model: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Count:
    """How many drafts of a step stand where."""

    curation: str
    step: int
    status: str
    count: int


def counts(db: Session) -> list[Count]:
    """All curations with their drafts, counted by step and status."""
    table = Draft
    query = select(table.curation, table.step, table.status, func.count()).group_by(
        table.curation, col(table.step), table.status
    )
    return [
        Count(*row)
        for row in db.execute(query.order_by(table.curation, col(table.step), table.status))
    ]


def curations(db: Session) -> list[str]:
    """The names of all curations that have asked anything."""
    return list(db.exec(select(CurationCall.curation).distinct().order_by(CurationCall.curation)))


def tasks(db: Session, curation: str, status: str = "candidate") -> list[str]:
    """The tasks that have drafts of this status, in alphabetical order."""
    query = select(Draft.task_id).where(Draft.curation == curation, Draft.status == status)
    return list(db.exec(query.distinct().order_by(Draft.task_id)))


def check_task(db: Session, curation: str, task: str) -> None:
    """Refuse a task that the curation has no draft of."""
    names = list(
        db.exec(
            select(Draft.task_id)
            .where(Draft.curation == curation)
            .distinct()
            .order_by(Draft.task_id)
        )
    )
    if task not in names:
        hint = f"The command `review list {curation}` shows them."
        raise NotDecided(no_such("task", task, names, hint, within=curation))


def queue(
    db: Session,
    curation: str,
    status: str = "candidate",
    task: str = "",
    step: int | None = None,
    limit: int = 200,
) -> list[Queued]:
    """Drafts in the order in which they read, at most so many."""
    query = select(Draft, CurationCall.model).join(
        CurationCall, col(Draft.call_id) == col(CurationCall.id)
    )
    query = query.where(Draft.curation == curation, Draft.status == status)
    query = query.where(Draft.task_id == task) if task else query
    query = query.where(Draft.step == step) if step else query
    # A task's own words come before those of its instances; databases disagree on where null sorts.
    instance = func.coalesce(col(Draft.instance), -1)
    order = (
        col(Draft.step),
        col(Draft.task_id),
        instance,
        col(Draft.kind),
        col(Draft.field),
        col(Draft.position),
    )
    return [_queued(draft, model) for draft, model in db.exec(query.order_by(*order).limit(limit))]


def queued_draft(db: Session, draft_id: str) -> Queued:
    """One draft."""
    draft = _draft(db, draft_id)
    call = db.get(CurationCall, draft.call_id)
    return _queued(draft, call.model if call else "")


def unwritten(db: Session, curation: str, limit: int = 200) -> list[Unwritten]:
    """The questions that brought nothing, with what was said instead, oldest first."""
    table = CurationCall
    query = (
        select(table)
        .where(table.curation == curation, table.status != "done")
        .order_by(col(table.at), table.id)
    )
    return [
        Unwritten(
            row.step, row.subject, row.status, row.reason, row.raw, row.tries, row.model, row.at
        )
        for row in db.exec(query.limit(limit))
    ]


def offer(db: Session, rows: Sequence[Mapping[str, Any]]) -> dict[str, Queued]:
    """Put the drafts of one task and step in the queue; undecided ones that are not among them any
    more go."""
    table, ids = Draft, [row["id"] for row in rows]
    same = [col(getattr(table, name)) == rows[0][name] for name in ("curation", "task_id", "step")]
    add_new(db, table, rows)
    stale = delete(table).where(*same, col(table.status) == "candidate", col(table.id).not_in(ids))
    db.connection().execute(stale)
    return {
        draft.id: _queued(draft, "")
        for draft in db.exec(select(table).where(*same))
        if draft.id in set(ids)
    }


def keep(db: Session, draft_ids: Sequence[str], reviewer: str, reason: str = "") -> int:
    """Let drafts stand as the model wrote them; return how many."""
    for draft_id in draft_ids:
        _decide(db, _draft(db, draft_id), "kept", {}, reviewer, reason)
    return len(draft_ids)


def keep_rest(db: Session, curation: str, task: str, step: int, reviewer: str) -> int:
    """Let all drafts of a task stand that nobody has decided about; return how many."""
    table, name = Draft, _name(reviewer)
    changed = db.connection().execute(
        update(table)
        .where(col(table.curation) == curation, col(table.task_id) == task)
        .where(col(table.step) == step, col(table.status) == "candidate")
        .values(status="kept", reviewer=name, reason="", decided_at=now())
    )
    return changed.rowcount


def edit(db: Session, draft_id: str, words: Mapping[str, Any], reviewer: str, reason: str) -> None:
    """Let a draft stand in other words; keys that are not given stay as the model wrote them."""
    draft = _draft(db, draft_id)
    _decide(db, draft, "edited", _words(draft.payload, words), reviewer, reason)


def drop(db: Session, draft_ids: Sequence[str], reviewer: str, reason: str) -> int:
    """Take drafts out; return how many."""
    for draft_id in draft_ids:
        _decide(db, _draft(db, draft_id), "dropped", {}, reviewer, reason)
    return len(draft_ids)


def clean(text: str, subject: str, longest: int = LONGEST) -> str:
    """The text, if it is one line of plain text and not too long."""
    if len(text) > longest:
        raise NotDecided(f"{subject} has {len(text)} characters; {longest} are the most.")
    if any(
        ord(letter) < 32 or 0xD800 <= ord(letter) <= 0xDFFF or letter == "\x7f" for letter in text
    ):
        raise NotDecided(
            f"{subject} holds a line break or an invisible character. Write one line of plain text."
        )
    return text


def _decide(
    db: Session, draft: Draft, status: str, edited: dict[str, Any], reviewer: str, reason: str
) -> None:
    why = reason.strip()
    if status in NEED_REASON and not why:
        raise NotDecided(f"{draft.id} needs a reason. Say in a few words why it is {status}.")
    draft.reviewer, draft.reason = _name(reviewer), clean(why, "the reason")
    draft.status, draft.edited, draft.decided_at = status, edited, now()
    db.add(draft)
    db.flush()


def _draft(db: Session, draft_id: str) -> Draft:
    draft = db.get(Draft, draft_id)
    if draft is None:
        raise NotDecided(
            f"There is no draft {draft_id!r}. The command `review list` shows the ids."
        )
    return draft


def _words(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The whole payload after an edit: the same keys, each still a text or a list of texts."""
    if unknown := sorted(set(changes) - set(before)):
        raise NotDecided(
            f"There is nothing called {unknown[0]!r} here; what can be edited is "
            f"{', '.join(before)}."
        )
    after = {key: _value(key, old, changes.get(key, old)) for key, old in before.items()}
    if after == dict(before):
        raise NotDecided("Nothing was changed. Keep it, or change its words.")
    return after


def _value(key: str, old: Any, new: Any) -> str | list[str]:
    entered = new.splitlines() if isinstance(old, list) and isinstance(new, str) else new
    lines = entered if isinstance(entered, list) else [entered]
    texts = [clean(str(line).strip(), key) for line in lines if str(line).strip()]
    if not texts:
        raise NotDecided(f"{key} is empty. Drop the draft if it is not wanted.")
    return texts if isinstance(old, list) else " ".join(texts)


def _name(reviewer: str) -> str:
    if not reviewer.strip():
        raise NotDecided("Say who decides: the reviewer's name is empty.")
    return clean(reviewer.strip(), "the reviewer's name", LONGEST_NAME)


def _queued(draft: Draft, model: str) -> Queued:
    where = f"{draft.task_id}{'' if draft.instance is None else f'.{draft.instance}'} {draft.field}"
    return Queued(
        id=draft.id,
        curation=draft.curation,
        step=draft.step,
        kind=draft.kind,
        task_id=draft.task_id,
        where=where,
        words=draft.edited or draft.payload,
        original=draft.payload,
        context=draft.context,
        note=draft.note,
        status=draft.status,
        reviewer=draft.reviewer,
        reason=draft.reason,
        model=model,
        decided_at=draft.decided_at,
    )

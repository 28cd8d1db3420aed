"""The audit: every link of the chain and every row behind a published number, held against what was
sealed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlmodel import Session, col, select

from flows.publish.row_digests import BYTES
from flows.publish.seal_chain import (
    OF_A_RUN,
    OF_A_SUBMISSION,
    Sealed,
    head,
    last_event,
    link_sha256,
    sealed,
)
from infra import tables
from infra.tables.standing import Seal
from submissions.teams.lifecycle import State


@dataclass(frozen=True, slots=True)
class Audited:
    """How much was looked at, what is not as it was, and the chain's head."""

    links: int
    rows: int
    unsealed_events: int
    head: str
    findings: tuple[str, ...]


def audit(db: Session, known_head: str = "") -> Audited:
    """Find every row that was edited, added or removed outside publication; `known_head` is from
    an export."""
    links = db.exec(select(Seal).order_by(col(Seal.seq))).all()
    findings = list(_chain(links, known_head))
    last: dict[tuple[str, str], Seal] = {(link.kind, link.owner): link for link in links}
    for board in [owner for kind, owner in last if kind == "standings"]:
        last.pop(("standing", board), None)
    rows = 0
    answers = _SealedAnswers([link for (kind, _), link in last.items() if kind == "verdict"])
    for link in last.values():
        findings += _rows(db, link, answers)
        rows += link.rows
    findings += _never_sealed(db, set(last)) + _states(db)
    end = head(db)
    return Audited(len(links), rows, _open_events(db), end.sha256 if end else "", tuple(findings))


def _chain(links: Sequence[Seal], known_head: str) -> Iterator[str]:
    before, heads = "", set()
    expected = 1
    for link in links:
        if link.seq != expected:
            yield f"link {expected} of the chain is gone"
        if link.previous != before or link.sha256 != link_sha256(link):
            yield f"link {link.seq} of the chain ({link.kind} {link.owner}) was altered"
        before, expected = link.sha256, link.seq + 1
        heads.add(link.sha256)
    if known_head and known_head not in heads:
        yield (
            f"the head {known_head[:16]}… of an earlier export is not in the chain: it was "
            "written anew"
        )


class _SealedAnswers:
    """Every answer of a judge that some run sealed.

    Two runs may show a judge the same file and ask it different questions: what the later one
    brought is new to the earlier one's link, and sealed all the same.
    """

    def __init__(self, links: Sequence[Seal]) -> None:
        self._links = links

    @cached_property
    def _digests(self) -> dict[bytes, bytes]:
        return {key: row for link in self._links for key, row in _parted(link).items()}

    def hold(self, row: Sealed) -> bool:
        """Whether the very same row is in the link of another run."""
        return row.kind == "verdict" and self._digests.get(row.key) == row.row


def _parted(link: Seal) -> dict[bytes, bytes]:
    """A link's digests by key; they are sixteen bytes each, eight of the key, eight of the row."""
    step = 2 * BYTES
    return {
        link.digests[at : at + BYTES]: link.digests[at + BYTES : at + step]
        for at in range(0, len(link.digests), step)
    }


def _rows(db: Session, link: Seal, answers: _SealedAnswers) -> Iterator[str]:
    """Rows against their digests."""
    row_digests = _parted(link)
    if link.kind == "verdict" and db.get(tables.Run, link.owner) is None:
        return
    for row in sealed(db, link.kind, link.owner):
        if row.key not in row_digests:
            if not answers.hold(row):
                yield f"{row.name} was added"
        elif row_digests.pop(row.key) != row.row:
            yield f"{row.name} was edited"
    for _ in row_digests:
        yield f"a row of {link.kind}, of {link.owner}, was removed"


def _never_sealed(db: Session, sealed_owners: set[tuple[str, str]]) -> list[str]:
    """Runs that stand on a board and never went through publication."""
    query = (
        select(tables.Run.id, tables.Run.submission_id)
        .join(tables.Submission)
        .where(tables.Run.state == "published")
    )
    published = db.execute(query.where(tables.Submission.trust != "C").order_by(tables.Run.id))
    return [
        f"run {run} of {submission} is on the board and was never published"
        for run, submission in published
        if any((kind, run) not in sealed_owners for kind in OF_A_RUN)
        or any((kind, submission) not in sealed_owners for kind in OF_A_SUBMISSION)
    ]


def _states(db: Session) -> list[str]:
    """A submission stands where its timeline says."""
    states = [str(state) for state in State]
    query = select(tables.Event.subject, tables.Event.kind).where(
        col(tables.Event.kind).in_(states)
    )
    last_states = {
        subject: kind for subject, kind in db.execute(query.order_by(col(tables.Event.id)))
    }
    rows = db.execute(
        select(tables.Submission.id, tables.Submission.state).where(tables.Submission.trust != "C")
    )
    return [
        f"submission {name} was edited: it is {state}, its timeline says {last_states[name]}"
        for name, state in rows
        if name in last_states and last_states[name] != state
    ]


def _open_events(db: Session) -> int:
    query = select(tables.Event.id).where(col(tables.Event.id) > last_event(db))
    return len(db.exec(query).all())

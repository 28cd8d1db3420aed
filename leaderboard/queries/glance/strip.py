"""How far to trust a board, in one line: judge and verdict, samples, completeness, audit, night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlmodel import Session, col, select

from infra.tables import Event, Judge, Run
from infra.tables.board import Passage
from infra.tables.operations import Night
from leaderboard.queries.ranking import RankedEntry, suites
from leaderboard.queries.trust import notice

AUDIT = "audit"
"""The subject of events that an audit leaves."""
UNKNOWN = "not examined"
PEOPLE, BY_RULE = "people", "by rule"


@dataclass(frozen=True, slots=True)
class TrustStrip:
    """What stands over every table of one board."""

    judge: str
    verdict: str
    ranked: bool
    reasons: tuple[str, ...]
    subset: str
    items: int | None
    items_of_all: int | None
    n_scored: int
    n_expected: int
    audited_at: datetime | None
    audit_text: str
    night: date | None
    night_state: str

    @property
    def is_part(self) -> bool:
        """Whether the board is about a part of the suite's samples."""
        return bool(self.items and self.items_of_all and self.items < self.items_of_all)


@dataclass(frozen=True, slots=True)
class ShownBoard:
    """What the shown entries of one board have in common, and how much of them is scored."""

    suite: str
    board: str
    judge: str
    subset: str
    n_scored: int
    n_expected: int


def shown_board(suite: str, entries: Sequence[RankedEntry]) -> ShownBoard:
    """What is shown of one board; its sanity rows, ceilings and baselines do not count."""
    counted = [entry for entry in entries if entry.role == "entry"] or entries
    return ShownBoard(
        suite,
        entries[0].board,
        entries[0].judge,
        entries[0].subset,
        sum(entry.n_scored or 0 for entry in counted),
        sum(entry.n_expected or 0 for entry in counted),
    )


def trust_strip(db: Session, shown: ShownBoard) -> TrustStrip:
    """The strip of one board."""
    sight, audited = notice(db, shown.board), last_audit(db)
    last_night = db.exec(select(Night).order_by(col(Night.night).desc()).limit(1)).first()
    sizes = next((row.subsets for row in suites(db) if row.name == shown.suite), {})
    return TrustStrip(
        judge=shown.judge,
        verdict=sight.verdict if sight else _unexamined(db, shown),
        ranked=sight.ranked if sight else True,
        reasons=sight.reasons if sight else (),
        subset=shown.subset,
        items=sizes.get(shown.subset),
        items_of_all=sizes.get("full") or max(sizes.values(), default=None),
        n_scored=shown.n_scored,
        n_expected=shown.n_expected,
        audited_at=audited.at if audited else None,
        audit_text=audited.text if audited else "",
        night=last_night.night if last_night else None,
        night_state=last_night.state if last_night else "",
    )


def last_audit(db: Session) -> Event | None:
    """What the last audit left in the events."""
    query = select(Event).where(Event.subject == AUDIT).order_by(col(Event.id).desc())
    return db.exec(query.limit(1)).first()


def _unexamined(db: Session, shown: ShownBoard) -> str:
    """Who judges a board that has no verdict: people, a rule, or a judge that an exam is for and
    that has not sat it."""
    query = select(Judge.kind).join(Run, col(Run.judge) == col(Judge.fingerprint))
    kind = db.exec(query.where(Run.board == shown.board).limit(1)).first()
    if kind == "human":
        return PEOPLE
    exam = select(Passage.name).where(Passage.kind == "exam", Passage.suite == shown.suite)
    return BY_RULE if db.exec(exam.limit(1)).first() is None else UNKNOWN

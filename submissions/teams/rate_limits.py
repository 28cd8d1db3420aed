"""Rate limits: tries counted in fixed windows of time, in the database that all processes share."""

from __future__ import annotations

import hashlib
import time

from sqlalchemy import delete, literal_column
from sqlmodel import Session, col

from infra.db import insert_into
from infra.tables import RateCount
from submissions.format.errors import IntakeError, Problem


class TooOften(IntakeError):
    """The count for this span is used up; says after how many seconds the next begins."""

    def __init__(self, limit: int, seconds: int) -> None:
        self.retry_after = seconds
        super().__init__(
            [
                Problem(
                    "E_RATE",
                    "request",
                    f"More than {limit} tries.",
                    f"Try again in {seconds} seconds.",
                    limit,
                )
            ]
        )


def spend(db: Session, subject: str, limit: int, seconds: int, moment: float | None = None) -> None:
    """Count one try; TooOften when there were more than the limit in this span."""
    at = time.time() if moment is None else moment
    window = int(at // seconds)
    if _count(db, f"{hashlib.sha256(subject.encode()).hexdigest()[:32]}/{seconds}", window) > limit:
        raise TooOften(limit, max(1, int((window + 1) * seconds - at) + 1))


def _count(db: Session, subject: str, window: int) -> int:
    """One more in this window; addresses are kept as hashes, and only as long as the window
    lasts."""
    statement = insert_into(db, RateCount).values(what=subject, window=window, count=1)
    increment = statement.on_conflict_do_update(
        index_elements=["what", "window"], set_={"count": literal_column("attempt.count") + 1}
    ).returning(col(RateCount.count))
    tries = int(db.connection().execute(increment).scalar_one())
    if tries == 1:
        db.connection().execute(
            delete(RateCount).where(col(RateCount.what) == subject, col(RateCount.window) < window)
        )
    return tries

"""The protocol of a study as the catalogue knows it: a suite's code declares it, the page reads
it."""

from __future__ import annotations

from sqlmodel import Session

from infra.tables.study import StudyProtocol
from leaderboard.studies.states import StudyError


def protocol_named(db: Session, name: str) -> StudyProtocol:
    """A protocol's row; an unknown one is an error that says how to get it."""
    row = db.get(StudyProtocol, name)
    if row is None:
        raise StudyError(
            f"The catalogue has no protocol {name!r}. Run `armillary init` where the suite is "
            "installed."
        )
    return row

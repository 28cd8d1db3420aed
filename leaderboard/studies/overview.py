"""All studies in a few numbers, for the operator."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from infra.tables import Submission
from infra.tables.study import Rater, Seat, Study, StudyItem


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study in one row."""

    id: str
    title: str
    suite: str
    protocol: str
    state: str
    items: int
    raters: int
    done: int
    places: int

    def as_row(self) -> dict[str, Any]:
        """For a table."""
        return asdict(self)


def overview(db: Session) -> list[StudyRow]:
    """Every study, newest first."""
    return [
        _row(db, study) for study in db.exec(select(Study).order_by(col(Study.created_at).desc()))
    ]


def _row(db: Session, study: Study) -> StudyRow:
    counts = [
        int(db.execute(select(func.count()).select_from(table).where(*where)).scalar_one())
        for table, where in (
            (StudyItem, [StudyItem.study_id == study.id]),
            (Rater, [Rater.study_id == study.id]),
            (Seat, [Seat.study_id == study.id, Seat.state == "done"]),
            (Seat, [Seat.study_id == study.id]),
        )
    ]
    return StudyRow(study.id, study.title, study.suite, study.protocol, study.state, *counts)


def results(db: Session) -> list[Study]:
    """Published studies with all they found, newest first."""
    return list(
        db.exec(
            select(Study).where(Study.state == "published").order_by(col(Study.published_at).desc())
        )
    )


def entries(db: Session, suite: str) -> dict[str, str]:
    """What on the board a study may be about: model and team by id."""
    columns = (Submission.id, Submission.model, Submission.team)
    chosen = select(*columns).where(
        Submission.suite == suite, Submission.state == "published", Submission.trust != "C"
    )
    return {
        name: f"{model} ({team})"
        for name, model, team in db.execute(chosen.order_by(Submission.model))
    }

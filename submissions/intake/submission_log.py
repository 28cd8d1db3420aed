"""The log of a submission, line by line from its rows; it can be read while the work goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from infra.tables import Run, Shard
from infra.tables.operations import SetAside
from submissions.intake.intake import PRIVATE
from submissions.teams.lifecycle import timeline


@dataclass(frozen=True, slots=True)
class LogLine:
    """One thing that happened."""

    at: datetime
    stage: str
    text: str


def log_lines(db: Session, submission_id: str) -> list[LogLine]:
    """The whole log, oldest first."""
    owners = [submission_id, *db.exec(select(Run.id).where(Run.submission_id == submission_id))]
    entries = [*_events(db, submission_id), *_shards(db, owners), *_set_aside(db, owners)]
    return sorted(entries, key=lambda line: line.at)


def log_subject(submission_id: str) -> str:
    """Under which events stand that only a submission's team reads."""
    return f"{submission_id}:log"


def _events(db: Session, submission_id: str) -> Iterator[LogLine]:
    for subject in (submission_id, log_subject(submission_id)):
        for event in timeline(db, subject):
            yield LogLine(event.at, event.kind, event.text)


def _shards(db: Session, owners: list[str]) -> Iterator[LogLine]:
    for shard in db.exec(select(Shard).where(col(Shard.owner).in_(owners))):
        how = f"in {shard.seconds:.1f} s" if shard.seconds else "as done before"
        yield LogLine(
            shard.at, shard.stage, f"{shard.items} items {how}, result {shard.sha256[:12]}."
        )


def _set_aside(db: Session, owners: list[str]) -> Iterator[LogLine]:
    for row in db.exec(select(SetAside).where(col(SetAside.owner).in_(owners))):
        name = "A private sample" if row.sample_id.startswith(PRIVATE) else row.sample_id
        yield LogLine(
            row.at, row.stage, f"{name} was given up after {row.tries} tries: {row.reason}"
        )

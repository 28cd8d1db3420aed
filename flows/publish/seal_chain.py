"""The audit's chain: digests of the rows behind published numbers, each link holding the hash of
the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from sqlalchemy import func, type_coerce
from sqlalchemy import select as sa_select
from sqlalchemy.types import NullType
from sqlmodel import Session, SQLModel, col, select

from evaluators.contracts import OUR_FAILURES
from evaluators.suites import suite_named
from flows.publish.row_digests import BYTES, digests
from flows.run.output_rows import outputs_of
from flows.run.questions import questioned_files
from infra import tables
from infra.db import BATCH_ROWS
from infra.tables import standing
from infra.tables.standing import Seal

PUBLICATION = "publication"
"""The lock under which ranks and links are written."""

FREE = {
    "submission": {"state", "fault", "code", "reason", "updated_at"},
    "suite": {"position"},
    "metric": {"position"},
    "board_sight": {"at"},
}
"""Columns that change in a row's life. A submission's state is held against its timeline
instead."""

OF_A_BOARD = ("roster", "standings", "board_sight")
MEASURED = ("noise", "overlays", "exam")
"""What is measured of a judge later stands on its card and changes no number."""

RAW = ("standings",)
"""Sealed as the bytes that are stored. Earlier links ("standing") sealed the same rows as the
numbers they mean."""

OF_A_RUN = ("run", "score", "cell", "summary", "rung", "verdict", "receipt")
OF_A_SUBMISSION = ("submission", "output")


@dataclass(frozen=True, slots=True)
class Sealed:
    """One row as the chain knows it: what its key and the whole of it hash to."""

    kind: str
    named: tuple[Any, ...]
    key: bytes
    row: bytes

    @property
    def name(self) -> str:
        """Its key in words."""
        return " ".join(map(str, (self.kind, *self.named)))


def seal(db: Session, kind: str, owner: str) -> None:
    """Add a link for the rows of a kind that belong to an owner, unless the last one says the
    same."""
    row_digests = sorted(_digests(db, kind, owner))
    whole = b"".join(row_digests)
    last = last_link(db, kind, owner)
    if last is None or last.digests != whole:
        before = head(db)
        at, seq = tables.now().replace(microsecond=0), before.seq + 1 if before else 1
        link = Seal(
            seq=seq,
            at=at,
            kind=kind,
            owner=owner,
            rows=len(row_digests),
            digests=whole,
            previous="",
            sha256="",
        )
        link.previous = before.sha256 if before else ""
        link.sha256 = link_sha256(link)
        db.add(link)
        db.flush()


def seal_run(db: Session, run: tables.Run) -> None:
    """Seal all that a published run rests on."""
    for kind in OF_A_SUBMISSION:
        seal(db, kind, run.submission_id)
    for kind in (*OF_A_RUN, "panel_split"):
        seal(db, kind, run.id)
    seal(db, "judge", run.judge)
    seal_sitting(db, run.judge)
    seal_board(db, run.board)
    seal_events(db)


def seal_board(db: Session, board: str) -> None:
    """Seal the ranks of a board, and whether it has any."""
    for kind in OF_A_BOARD:
        seal(db, kind, board)


def seal_sitting(db: Session, judge: str) -> None:
    """Seal how a judge did in its exams."""
    seal(db, "judge_exam", judge)


def seal_catalogue(db: Session) -> None:
    """Seal what the suites declare and the figures that papers print."""
    for name in db.exec(select(tables.Suite.name).order_by(tables.Suite.name)).all():
        for kind in ("suite", "metric", "sample"):
            seal(db, kind, name)
    papers = select(tables.Run.id).join(tables.Submission).where(tables.Submission.trust == "C")
    for run_id in db.exec(papers.order_by(tables.Run.id)).all():
        seal(db, "cell", run_id)


def seal_events(db: Session) -> None:
    """Seal the timeline's lines that are not in the chain yet."""
    first = last_event(db) + 1
    last = db.execute(sa_select(func.max(tables.Event.id))).scalar_one() or 0
    if last >= first:
        seal(db, "event", f"{first}-{last}")


def last_event(db: Session) -> int:
    """The number of the last line of the timeline that is sealed."""
    query = select(Seal.owner).where(Seal.kind == "event").order_by(col(Seal.seq).desc()).limit(1)
    return int((db.exec(query).first() or "0-0").split("-")[1])


def head(db: Session) -> Seal | None:
    """The last link."""
    return db.exec(select(Seal).order_by(col(Seal.seq).desc()).limit(1)).first()


def last_link(db: Session, kind: str, owner: str) -> Seal | None:
    """The last link for the rows of an owner."""
    query = select(Seal).where(Seal.kind == kind, Seal.owner == owner)
    return db.exec(query.order_by(col(Seal.seq).desc()).limit(1)).first()


def link_sha256(link: Seal) -> str:
    """The hash of a link: everything in it, and the hash of the one before."""
    content = hashlib.sha256(link.digests).hexdigest()
    parts = [
        link.seq,
        link.previous,
        link.at.astimezone(UTC).isoformat(),
        link.kind,
        link.owner,
        link.rows,
        content,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def sealed(db: Session, kind: str, owner: str) -> Iterator[Sealed]:
    """The rows of a kind that belong to an owner, as the chain knows them."""
    names, keys = _names(kind)
    at = [names.index(key) for key in keys]
    for rows in _rows(db, kind, owner):
        for row, digest in zip(rows, digests(names, keys, rows), strict=True):
            yield Sealed(kind, tuple(row[number] for number in at), digest[:BYTES], digest[BYTES:])


def _digests(db: Session, kind: str, owner: str) -> Iterator[bytes]:
    names, keys = _names(kind)
    for rows in _rows(db, kind, owner):
        yield from digests(names, keys, rows)


def _names(kind: str) -> tuple[list[str], list[str]]:
    """Which columns are sealed, and which of them are the key."""
    columns = _columns(kind)
    return [column.name for column in columns], [
        column.name for column in columns if column.primary_key
    ]


def _columns(kind: str) -> list[Any]:
    columns: Sequence[Any] = TABLES[kind].__table__.columns  # type: ignore[attr-defined]
    return [column for column in columns if column.name not in FREE.get(kind, set())]


def _rows(db: Session, kind: str, owner: str) -> Iterator[Sequence[Sequence[Any]]]:
    columns = _columns(kind)
    selected = [type_coerce(column, NullType()) if kind in RAW else column for column in columns]
    for condition in CHOSEN.get(kind, _owned)(db, kind, owner):
        query = sa_select(*selected).where(condition)
        for rows in db.connection().execute(query).partitions(BATCH_ROWS):
            yield [_unmeasured(columns, row) for row in rows] if kind == "judge" else rows


def _unmeasured(columns: Sequence[Any], row: Sequence[Any]) -> list[Any]:
    """A judge's row without what is measured of it later, which stands in its card."""
    return [
        {field: part for field, part in value.items() if field not in MEASURED}
        if column.name == "card"
        else value
        for column, value in zip(columns, row, strict=True)
    ]


def _owned(_db: Session, kind: str, owner: str) -> Iterator[Any]:
    yield getattr(TABLES[kind], OWNER[kind]) == owner


def _of_events(_db: Session, _kind: str, owner: str) -> Iterator[Any]:
    first, last = map(int, owner.split("-"))
    yield col(tables.Event.id).between(first, last)


def _of_verdicts(db: Session, _kind: str, owner: str) -> Iterator[Any]:
    """A run's verdicts: its judge's answers about the submission's files; a judge's failures may
    yet be mended."""
    run, table = db.get_one(tables.Run, owner), tables.Verdict
    media = judged_files(db, run)
    answered = col(table.outcome).not_in([str(outcome) for outcome in OUR_FAILURES])
    for start in range(0, len(media), 500):
        yield (
            (col(table.judge) == run.judge)
            & (col(table.repeat) == 0)
            & answered
            & col(table.media_sha256).in_(media[start : start + 500])
        )


def judged_files(db: Session, run: tables.Run) -> list[str]:
    """The files of a run that its judge was shown: its outputs, or the parts of them that are
    judged."""
    suite = suite_named(run.suite)
    if suite.pieces is None:
        files = select(tables.Output.media_sha256).where(
            tables.Output.submission_id == run.submission_id
        )
        return sorted(set(db.exec(files)) - {""})
    files_by_sample = questioned_files(suite, suite.samples(), outputs_of(db, run.submission_id))
    return sorted(
        {file.media_sha256 for of_sample in files_by_sample.values() for file in of_sample}
    )


TABLES: Mapping[str, type[SQLModel]] = {
    "submission": tables.Submission,
    "output": tables.Output,
    "run": tables.Run,
    "score": tables.Score,
    "cell": tables.Cell,
    "verdict": tables.Verdict,
    "judge": tables.Judge,
    "event": tables.Event,
    "suite": tables.Suite,
    "metric": tables.Metric,
    "sample": tables.Sample,
    "summary": standing.Summary,
    "rung": standing.AttemptRow,
    "receipt": standing.Receipt,
    "roster": standing.Roster,
    "standing": standing.Standing,
    "standings": standing.Standing,
    "board_sight": standing.BoardSight,
    "judge_exam": standing.JudgeExam,
    "panel_split": standing.PanelSplit,
}
OWNER: Mapping[str, str] = {
    "submission": "id",
    "output": "submission_id",
    "run": "id",
    "judge": "fingerprint",
    "suite": "name",
    "metric": "suite",
    "sample": "suite",
    "roster": "board",
    "standing": "board",
    "standings": "board",
    "board_sight": "board",
    "judge_exam": "judge",
    **{kind: "run_id" for kind in ("score", "cell", "summary", "rung", "receipt", "panel_split")},
}
CHOSEN: Mapping[str, Callable[[Session, str, str], Iterator[Any]]] = {
    "event": _of_events,
    "verdict": _of_verdicts,
}

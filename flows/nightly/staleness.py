"""What a night has to do again, told from fingerprints: one look a submission, whatever the number
of its samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import exists
from sqlmodel import Session, col, select

from evaluators.contracts import OUR_FAILURES
from evaluators.suites import suite_named
from flows.nightly.explanation import code_change
from flows.run.board_keys import board_key, items_sha256
from flows.run.score_rows import is_current
from flows.workers.judges import judge_of
from infra import tables
from infra.settings import Settings
from infra.tables.operations import RunMark

Cause = Literal["code", "judge", "data", "noise"]


@dataclass(frozen=True, slots=True)
class EntryOnBoard:
    """A submission on the board: its newest run, and what made its numbers."""

    submission: tables.Submission
    run: tables.Run
    mark: RunMark | None
    judge_setting: str


@dataclass(frozen=True, slots=True)
class Stale:
    """An entry whose numbers are not today's, and why. `in_place`: the same run is computed again,
    without a judge."""

    entry: EntryOnBoard
    cause: Cause
    why: str
    in_place: bool


def entries(db: Session, settings: Settings) -> list[EntryOnBoard]:
    """What stands on the boards by our own doing, each with its newest run, in the order they came;
    never people's."""
    query = (
        select(tables.Submission, tables.Run, RunMark)
        .join(tables.Run, col(tables.Run.submission_id) == col(tables.Submission.id))
        .join(tables.Judge, col(tables.Judge.fingerprint) == col(tables.Run.judge))
        .join(RunMark, col(RunMark.run_id) == col(tables.Run.id), isouter=True)
        .where(
            tables.Submission.state == "published",
            tables.Submission.trust != "C",
            tables.Run.state == "published",
        )
        .where(tables.Judge.kind != "human")
        .order_by(col(tables.Run.published_at), col(tables.Run.id))
    )
    newest = {submission.id: (submission, run, mark) for submission, run, mark in db.exec(query)}
    came = sorted(
        newest.values(),
        key=lambda entry: (entry[1].published_at or entry[0].created_at, entry[1].id),
    )
    return [EntryOnBoard(*entry, _setting(settings, entry[2])) for entry in came]


def _setting(settings: Settings, mark: RunMark | None) -> str:
    """The judge that was asked for; where nobody asked for one, the entry keeps the one it has."""
    if mark is None or "judge" in settings.model_fields_set:
        return settings.judge
    return mark.judge_setting


def stale(db: Session, settings: Settings, board_entries: list[EntryOnBoard]) -> Iterator[Stale]:
    """Those of the entries that have to be computed again."""
    for entry in board_entries:
        why = _why(db, settings, entry)
        if why:
            yield why


def _why(db: Session, settings: Settings, entry: EntryOnBoard) -> Stale | None:
    suite, run, mark = suite_named(entry.submission.suite), entry.run, entry.mark
    if suite.version != run.suite_version:
        return None
    judge = judge_of(settings, suite, entry.judge_setting)
    if not is_under_its_judge(settings, entry):
        why = f"another judge: {_named(db, judge)} now, {_named(db, run.judge)} before"
        return Stale(entry, "judge", why, in_place=False)
    if board_key(suite, run.subset, judge) != run.board:
        change = code_change(db, mark, suite.name)
        if mark and mark.items_sha256 != items_sha256(suite):
            why = f"other prompts, questions or references: {change}"
            return Stale(entry, "data", why, in_place=False)
        why = f"scorer {suite.scorer_version}, was {run.scorer_version}: {change}"
        return Stale(entry, "code", why, in_place=False)
    if not is_current(mark, suite):
        why = f"code that scores was changed: {code_change(db, mark, suite.name)}"
        return Stale(entry, "code", why, in_place=True)
    if run.n_scored != run.n_expected and _has_open_answers(db, run):
        return Stale(entry, "data", "answers that the judge still owes", in_place=True)
    return None


def _named(db: Session, judge: str) -> str:
    """A judge in words; one that has no row yet, by its fingerprint alone."""
    card = db.get(tables.Judge, judge)
    return f"{card.name} ({judge})" if card else judge


def is_under_its_judge(settings: Settings, entry: EntryOnBoard) -> bool:
    """Whether the judge that is set for an entry today is the one that judged it."""
    suite = suite_named(entry.submission.suite)
    return entry.run.judge == judge_of(settings, suite, entry.judge_setting)


def _has_open_answers(db: Session, run: tables.Run) -> bool:
    ours = [str(outcome) for outcome in OUR_FAILURES]
    owed = exists().where(col(tables.Score.run_id) == run.id, col(tables.Score.outcome).in_(ours))
    return bool(db.connection().execute(select(owed)).scalar_one())

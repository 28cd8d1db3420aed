"""A judge sits a suite's exam before its first board is ranked, and again each night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlmodel import Session

from evaluators.contracts import Answer, Outcome, Reply, Suite
from evaluators.judges.exam.competence import Competence, competence, marks
from evaluators.judges.exam.exam import SHARD, Exam, ExamItem, items_sha256, shards
from evaluators.judges.exam.sight import ExamVerdict, verdict
from flows.durable.lease import check_lease
from flows.durable.progress import start_progress
from flows.durable.shard_results import records_of
from flows.publish.seal_chain import PUBLICATION, seal_sitting
from flows.publish.sight import SPANS, newest_sitting
from flows.workers.judges import requests_at_once
from flows.workers.judging import ask_exam
from flows.workers.specs import ExamWork, WorkerPlace
from infra.db import put, session, transaction_lock
from infra.settings import Settings
from infra.store import open_store
from infra.tables import Judge
from infra.tables.standing import JudgeExam

FIRST = "first"
"""The sitting before a judge's first board, as against those of nights."""


@dataclass(frozen=True, slots=True)
class ExamAnswers:
    """What a judge said in a sitting: its replies, where they lie, and how many are new."""

    replies: tuple[Reply, ...]
    keys: tuple[str, ...]
    calls: int


def ensure_sitting(settings: Settings, suite: Suite, judge: str, place: WorkerPlace) -> int:
    """Let a judge sit today's exam if it has not yet; return how many items it was asked."""
    if suite.exam is None or suite.own_judge is not None or settings.exam == "off":
        return 0
    with session(settings.database) as db:
        if newest_sitting(db, suite, judge):
            return 0
    return sit_exam(settings, suite, judge, place)


def sit_exam(
    settings: Settings, suite: Suite, judge: str, place: WorkerPlace, night: date | None = None
) -> int:
    """Ask the judge that the settings name the whole exam and keep how it did."""
    exam = suite.exam
    assert exam, f"{suite.name} has no exam"
    items, sitting = exam.items(), str(night) if night else FIRST
    work = ExamWork(suite.name, settings.judge, judge, items_sha256(items), (), sitting)
    answers = _ask(work, items, place, requests_at_once(settings, SHARD))
    reached = competence(marks(items, answers.replies), exam.menu)
    outcome = verdict(reached, exam.bounds)
    row = _row(work, exam, reached, outcome, answers, night)
    with session(settings.database) as db:
        transaction_lock(db, PUBLICATION)
        put(db, JudgeExam, [row.model_dump()])
        _put_on_card(db, row)
        seal_sitting(db, row.judge)
    return answers.calls


def _ask(
    work: ExamWork, items: tuple[ExamItem, ...], place: WorkerPlace, at_once: int
) -> ExamAnswers:
    """One shard after the other; a shard that was answered in this sitting is only read."""
    store = open_store(place.store, place.endpoint)
    start_progress("exam", len(items))
    replies, keys, calls = list[Reply](), list[str](), 0
    for shard in shards(items, at_once):
        check_lease()
        result = ask_exam(_of_items(work, shard), place)
        calls += result.items * result.fresh
        keys.append(result.key)
        replies += map(_reply, records_of(store, result))
    return ExamAnswers(tuple(replies), tuple(keys), calls)


def _of_items(work: ExamWork, items: Sequence[ExamItem]) -> ExamWork:
    names = tuple(item.id for item in items)
    return ExamWork(
        work.suite, work.judge, work.fingerprint, work.items_sha256, names, work.sitting
    )


def _reply(record: Mapping[str, Any]) -> Reply:
    answers = (
        Answer(fields["question_id"], Outcome(fields["outcome"]), fields["value"])
        for fields in record["answers"]
    )
    return Reply(record["sample_id"], tuple(answers))


def _row(
    work: ExamWork,
    exam: Exam,
    reached: Competence,
    outcome: ExamVerdict,
    answers: ExamAnswers,
    night: date | None,
) -> JudgeExam:
    return JudgeExam(
        judge=work.fingerprint,
        suite=work.suite,
        version=exam.version,
        items_sha256=work.items_sha256,
        sitting=work.sitting,
        night=night,
        n=reached.n,
        n_answered=reached.n_answered,
        answer_rate=reached.answer_rate,
        chance=reached.chance,
        n_pairs=reached.n_pairs,
        **_spans(reached),
        verdict=outcome.sight,
        reasons=list(outcome.reasons),
        answers=list(answers.keys),
    )


def _spans(reached: Competence) -> dict[str, Any]:
    measured = (reached.agreement, reached.kappa, reached.yes_bias, reached.order)
    return {
        f"{name}{end}": value
        for name, span in zip(SPANS, measured, strict=True)
        for end, value in (("", span.value), ("_low", span.low), ("_high", span.high))
    }


def _put_on_card(db: Session, row: JudgeExam) -> None:
    """The newest sitting of each suite's exam stands on the judge's card."""
    judge = db.get_one(Judge, row.judge)
    fields = row.model_dump(mode="json", exclude={"judge", "suite", "answers"})
    exams = {**judge.card.get("exam", {}), row.suite: fields}
    put(db, Judge, [{**judge.model_dump(), "card": {**judge.card, "exam": exams}}])

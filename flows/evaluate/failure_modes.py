"""The second look: outputs that did badly are asked about once more, and what went wrong in them is
named, by the judge or by a person who decides otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete
from sqlmodel import Session, col, select

from evaluators.contracts import Answer, Failure, Outcome, SecondLook
from evaluators.suites import suite_named
from flows.evaluate.judge import Verdicts, ask_second_look, plan_second_look
from flows.evaluate.outputs import OutputRows
from flows.run.answers import answers_to
from flows.run.case import EvaluationCase
from flows.run.output_rows import outputs_of
from flows.run.questions import QuestionedFile
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from infra.tables import Run
from infra.tables import Sample as SampleRow
from infra.tables.findings import FailureRow as FailureRow
from leaderboard.queries.ranking import NotOnBoard
from submissions.format.errors import shown

JUDGES_WORD = {"decided_by": "", "reason": ""}


def take_second_look(case: EvaluationCase, outputs: OutputRows) -> int:
    """Ask about every weak output without an answer and store its failure modes; return how many
    were asked about."""
    look = case.suite.second_look
    if look is None:
        return 0
    planned = plan_second_look(case, look, _weak(case, look), outputs)
    answered = ask_second_look(case, planned.missing())
    verdicts = {**planned.verdicts, **_verdicts_in(answered.records, planned.files)}
    failures = _failures(look, planned.files, verdicts)
    with session(case.settings.database) as db:
        _store(db, case.run.id, failures)
    return answered.judged


def _verdicts_in(records: Sequence[Mapping[str, Any]], files: Sequence[QuestionedFile]) -> Verdicts:
    """What the judge has just answered."""
    files_by_item = {file.item.id: file for file in files}
    verdicts: dict[tuple[str, str], Answer] = {}
    for record in records:
        question_keys = files_by_item[record["sample_id"]].question_keys
        for answer in record["answers"]:
            key = question_keys[answer["question_id"]]
            verdicts[record["media_sha256"], key] = Answer(
                key, Outcome(answer["outcome"]), answer["value"], answer["reason"]
            )
    return verdicts


def _failures(
    look: SecondLook, files: Sequence[QuestionedFile], verdicts: Verdicts
) -> dict[str, Failure]:
    return {
        file.item.id: look.read(file.item.facets.modality, answers_to((file,), verdicts))
        for file in files
    }


def _weak(case: EvaluationCase, look: SecondLook) -> set[str]:
    """The samples whose scores call for the second look; a missing output has nothing to look
    at."""
    table = tables.Score
    query = select(table.sample_id, table.metric, table.value).where(
        table.run_id == case.run.id,
        col(table.metric).in_(look.metrics),
        table.outcome == Outcome.SCORED,
    )
    values: dict[str, dict[str, float | None]] = {}
    with session(case.settings.database) as db:
        for sample_id, metric, value in db.exec(query):
            values.setdefault(sample_id, {})[metric] = value
    return {sample_id for sample_id, scores in values.items() if look.needs(scores)}


def _store(db: Session, run_id: str, failures: Mapping[str, Failure]) -> None:
    """Replace the judge's rows; those that a person decided stay."""
    rows = [
        {
            "run_id": run_id,
            "sample_id": sample_id,
            "primary": failure.primary,
            "modes": list(failure.modes),
            **JUDGES_WORD,
        }
        for sample_id, failure in failures.items()
    ]
    judges = (col(FailureRow.run_id) == run_id, col(FailureRow.decided_by) == "")
    db.connection().execute(delete(FailureRow).where(*judges))
    add_new(db, FailureRow, rows)


def differences(case: EvaluationCase, stored: Sequence[FailureRow]) -> list[str]:
    """Where the rows do not say what the stored answers say."""
    decided = {row.sample_id for row in stored if row.decided_by}
    before = {row.sample_id: Failure(row.primary, tuple(row.modes)) for row in stored}
    recomputed = _recomputed(case)
    sample_ids = sorted((before.keys() | recomputed.keys()) - decided)
    return [
        f"failure {sample_id}: another one recomputed"
        for sample_id in sample_ids
        if before.get(sample_id) != recomputed.get(sample_id)
    ]


def _recomputed(case: EvaluationCase) -> dict[str, Failure]:
    """The failure modes of a run's weak outputs, from stored scores and verdicts."""
    look = case.suite.second_look
    if look is None:
        return {}
    with session(case.settings.database) as db:
        outputs = outputs_of(db, case.submission.id)
    planned = plan_second_look(case, look, _weak(case, look), outputs)
    return _failures(look, planned.files, planned.verdicts)


def decide(
    settings: Settings, run_id: str, sample_id: str, primary: str, by: str, reason: str
) -> None:
    """Store a person's decision which mode counts, who decided and why; the other modes that the
    judge named stay."""
    with session(settings.database) as db:
        row = db.get(FailureRow, (run_id, sample_id))
        if row is None:
            where = f"{shown(run_id)} has no weak output {shown(sample_id)}."
            raise NotOnBoard(f"{where} The API lists them: /v1/runs/{run_id}/failures.")
        modes = _modes(db, run_id, sample_id)
        if primary not in modes:
            raise NotOnBoard(
                f"{shown(primary)} is no failure mode here. Name one of {', '.join(modes)}."
            )
        row.primary, row.decided_by, row.reason = primary, by, reason
        row.modes = [mode for mode in modes if mode == primary or mode in row.modes]
        db.add(row)


def _modes(db: Session, run_id: str, sample_id: str) -> list[str]:
    run = db.get_one(Run, run_id)
    look = suite_named(run.suite).second_look
    modality = db.exec(
        select(SampleRow.modality).where(SampleRow.id == sample_id, SampleRow.suite == run.suite)
    ).first()
    if not look or not modality:
        return []
    return [question.id for question in look.questions(modality, {}) if question.kind == "yes_no"]

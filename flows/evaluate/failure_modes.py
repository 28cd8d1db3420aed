"""The second look: outputs that did badly are asked about once more, and what went wrong in them is
named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import delete
from sqlmodel import Session, col, select

from evaluators.contracts import OUR_FAILURES, Answer, Failure, Outcome, Sample
from evaluators.judges.card import question_key, request_key
from flows.durable.progress import begin, reach
from flows.durable.shard_results import pieces, records_of
from flows.evaluate.stages import ask_judge, judge_work
from flows.run.case import EvaluationCase
from flows.run.questions import QuestionedFile, given_to
from flows.run.tables_io import outputs_of, replied, reply_key, store_verdicts, verdicts_of
from flows.workers.executor import each_done
from flows.workers.work import JudgeWork, looked_at_again
from infra import tables
from infra.db import add_new, session
from infra.tables.findings import FailureRow as FailureRow

JUDGES_WORD = {"decided_by": "", "reason": ""}


@dataclass(frozen=True, slots=True)
class Weak:
    """Outputs that did badly: each with its second questions and the answers there are."""

    samples: tuple[Sample, ...]
    requests: Mapping[str, str]
    outputs: Mapping[str, tables.Output]
    answered: dict[tuple[str, str], Answer]

    def hear(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Take in what the judge has just said."""
        for record in records:
            request, media = self.requests[record["sample_id"]], record["media_sha256"]
            for said in record["answers"]:
                key = question_key(request, said["question_id"])
                self.answered[media, key] = Answer(
                    key, Outcome(said["outcome"]), said["value"], said["reason"]
                )

    def answers(self, sample: Sample) -> dict[str, Answer | None]:
        """What was answered about one output, by question."""
        request, media = self.requests[sample.id], self.outputs[sample.id].media_sha256
        return {
            one.id: self.answered.get((media, question_key(request, one.id)))
            for one in sample.questions
        }

    def open(self) -> list[Sample]:
        """Those with a question that has no answer, or none but a failure of the judge's."""
        return [one for one in self.samples if not all(map(_is_answer, self.answers(one).values()))]


def look_again(case: EvaluationCase) -> int:
    """Ask about every weak output that has not been looked at, and keep what went wrong; return how
    many were asked."""
    if case.suite.second_look is None:
        return 0
    asked = taken = 0
    weak = _weak(case)
    todo = list(_works(case, weak))
    begin("second look", sum(len(piece.media) for piece in todo))
    for done in each_done(ask_judge, todo, case.place):
        records = records_of(case.store, done)
        with session(case.settings.database) as db:
            store_verdicts(db, case.run, done, records, weak.requests, stage="second look")
        weak.hear(records)
        asked, taken = asked + done.items * done.fresh, taken + done.items
        reach("second look", taken)
    with session(case.settings.database) as db:
        _store(db, case.run.id, _named(case, weak))
    return asked


def failures(case: EvaluationCase) -> dict[str, Failure]:
    """The failure modes of a run's weak outputs, from stored scores and verdicts."""
    return _named(case, _weak(case)) if case.suite.second_look else {}


def _named(case: EvaluationCase, weak: Weak) -> dict[str, Failure]:
    look = case.suite.second_look
    assert look is not None
    return {
        one.id: look.read(one.facets.modality, given_to(weak.answers(one))) for one in weak.samples
    }


def _weak(case: EvaluationCase) -> Weak:
    with session(case.settings.database) as db:
        outputs = outputs_of(db, case.submission.id)
        low = _low(db, case)
        samples = tuple(
            looked_at_again(case.suite.name, one) for one in case.samples if one.id in low
        )
        requests, judge = _requests(samples), case.run.judge
        media = {name: outputs[name].media_sha256 for name in requests}
        keys = {
            reply_key(judge, media[name], request): media[name]
            for name, request in requests.items()
        }
        answered = verdicts_of(db, judge, [keys[key] for key in replied(db, list(keys))])
    return Weak(samples, requests, outputs, answered)


def _requests(samples: Sequence[Sample]) -> dict[str, str]:
    return {one.id: request_key(one.prompt, one.facets.modality, one.questions) for one in samples}


def _low(db: Session, case: EvaluationCase) -> set[str]:
    """The samples whose scores call for the second look; an output that is not there has nothing to
    look at."""
    look = case.suite.second_look
    assert look is not None
    table = tables.Score
    query = select(table.sample_id, table.metric, table.value).where(
        table.run_id == case.run.id,
        col(table.metric).in_(look.metrics),
        table.outcome == Outcome.SCORED,
    )
    values: dict[str, dict[str, float | None]] = {}
    for sample, metric, value in db.exec(query):
        values.setdefault(sample, {})[metric] = value
    return {sample for sample, found in values.items() if look.needs(found)}


def _works(case: EvaluationCase, weak: Weak) -> Iterator[JudgeWork]:
    for piece in pieces(weak.open(), case.settings.shard_size):
        outputs = ((sample, weak.outputs[sample.id]) for sample in piece)
        asked = [
            QuestionedFile(one, row.media_sha256, row.media_type, weak.requests[one.id])
            for one, row in outputs
        ]
        yield replace(judge_work(case, asked), second=True)


def _store(db: Session, run_id: str, found: Mapping[str, Failure]) -> None:
    """The judge's word, newly; what a person decided stays."""
    rows = [
        {
            "run_id": run_id,
            "sample_id": name,
            "primary": one.primary,
            "modes": list(one.modes),
            **JUDGES_WORD,
        }
        for name, one in found.items()
    ]
    judges = (col(FailureRow.run_id) == run_id, col(FailureRow.decided_by) == "")
    db.connection().execute(delete(FailureRow).where(*judges))
    add_new(db, FailureRow, rows)


def _is_answer(answer: Answer | None) -> bool:
    return answer is not None and answer.outcome not in OUR_FAILURES


def differences(case: EvaluationCase, stored: Sequence[FailureRow]) -> list[str]:
    """Where the rows do not say what the stored answers say."""
    decided = {row.sample_id for row in stored if row.decided_by}
    kept = {row.sample_id: Failure(row.primary, tuple(row.modes)) for row in stored}
    again = failures(case)
    names = sorted((kept.keys() | again.keys()) - decided)
    return [
        f"failure {name}: another one recomputed"
        for name in names
        if kept.get(name) != again.get(name)
    ]

"""Known answers to ask about again: a fixed anchor set of each judge, and outputs drawn by a
seed."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import tuple_
from sqlmodel import Session, col, select

from flows.run.case import EvaluationCase
from flows.run.verdict_rows import verdicts_of
from infra import tables
from infra.db import add_new
from infra.tables.operations import Anchor
from infra.tables.results import question_key


@dataclass(frozen=True, slots=True, order=True)
class OutputKey:
    """One output: the submission and the sample that it answers."""

    submission_id: str
    sample_id: str


@dataclass(frozen=True, slots=True, order=True)
class AnswerKey:
    """One answer about an output: the output and the question."""

    output: OutputKey
    question_id: str


Cases = Mapping[str, EvaluationCase]


def draw(cases: Cases, count: int, seed: str) -> list[OutputKey]:
    """Outputs drawn evenly over submissions, without repeats, always the same for one seed."""
    dice = random.Random(seed)  # noqa: S311
    ids = sorted(cases)
    drawn = (dice.choice(ids) for _ in range(3 * count))
    outputs = (OutputKey(name, dice.choice(cases[name].samples).id) for name in drawn)
    return list(dict.fromkeys(outputs))[:count]


def known_answers(db: Session, cases: Cases, outputs: Sequence[OutputKey]) -> dict[AnswerKey, str]:
    """What the judge answered about these outputs when they were judged."""
    rows = outputs_at(db, outputs)
    judge = next(iter(cases.values())).run.judge
    verdicts = verdicts_of(db, judge, sorted({row.media_sha256 for row in rows.values()}))
    answers: dict[AnswerKey, str] = {}
    for output, row in rows.items():
        for question_id, key in _questions(cases[output.submission_id], output.sample_id):
            answer = verdicts.get((row.media_sha256, key))
            if answer and answer.value is not None:
                answers[AnswerKey(output, question_id)] = answer.value
    return answers


def choose_anchors(db: Session, cases: Cases, count: int) -> None:
    """Fix the anchor set of a judge once: outputs that people judged first, then a draw; later
    calls change nothing."""
    case = next(iter(cases.values()))
    of_judge = (Anchor.suite == case.suite.name, Anchor.judge == case.run.judge)
    if count == 0 or db.exec(select(Anchor.suite).where(*of_judge).limit(1)).first():
        return
    people = _by_people(db, cases)
    drawn = draw(cases, count, f"{case.suite.name} {case.run.judge}")
    outputs = list(dict.fromkeys([*(key.output for key in people), *drawn]))[:count]
    answers = known_answers(db, cases, outputs)
    rows = outputs_at(db, outputs)
    add_new(
        db,
        Anchor,
        [_anchor(case, rows[key.output], key, answers[key], people) for key in sorted(answers)],
    )


def anchors_of(db: Session, case: EvaluationCase, cases: Cases) -> dict[AnswerKey, str]:
    """The anchor set's answers, as far as its submissions are still on the board."""
    of_judge = (Anchor.suite == case.suite.name, Anchor.judge == case.run.judge)
    rows = db.exec(select(Anchor).where(*of_judge)).all()
    return {
        AnswerKey(OutputKey(row.submission_id, row.sample_id), row.question_id): row.value
        for row in rows
        if row.submission_id in cases
    }


def _anchor(
    case: EvaluationCase,
    row: tables.Output,
    key: AnswerKey,
    value: str,
    people: Mapping[AnswerKey, str],
) -> dict[str, Any]:
    return Anchor(
        suite=case.suite.name,
        judge=case.run.judge,
        media_sha256=row.media_sha256,
        sample_id=key.output.sample_id,
        question_id=key.question_id,
        submission_id=key.output.submission_id,
        media_type=row.media_type,
        value=people.get(key, value),
        source="human" if key in people else "judge",
    ).model_dump()


def _by_people(db: Session, cases: Cases) -> dict[AnswerKey, str]:
    """What most people said about outputs of these submissions, where people were asked."""
    verdict, output = tables.Verdict, tables.Output
    query = (
        select(output.submission_id, output.sample_id, verdict.question_sha256, verdict.value)
        .join(verdict, col(verdict.media_sha256) == col(output.media_sha256))
        .join(tables.Judge, col(tables.Judge.fingerprint) == col(verdict.judge))
        .where(
            tables.Judge.kind == "human",
            col(output.submission_id).in_(list(cases)),
            col(verdict.value).is_not(None),
        )
    )
    votes_by_output: dict[OutputKey, dict[str, Counter[str]]] = defaultdict(dict)
    for submission_id, sample_id, question_sha256, value in db.exec(query):
        by_question = votes_by_output[OutputKey(submission_id, sample_id)]
        by_question.setdefault(question_sha256, Counter())[str(value)] += 1
    answers: dict[AnswerKey, str] = {}
    for key, by_question in sorted(votes_by_output.items(), key=lambda entry: entry[0]):
        for question_id, question_sha256 in _questions(cases[key.submission_id], key.sample_id):
            if votes := by_question.get(question_sha256):
                answers[AnswerKey(key, question_id)] = _most_frequent(votes)
    return answers


def _most_frequent(votes: Counter[str]) -> str:
    """The value with the most votes; of equal ones the first by name."""
    return min(votes, key=lambda value: (-votes[value], value))


def _questions(case: EvaluationCase, sample_id: str) -> list[tuple[str, str]]:
    """The ids of a sample's questions, with the key under which their answers are stored."""
    questions = next(sample.questions for sample in case.samples if sample.id == sample_id)
    return [
        (question.id, question_key(case.requests[sample_id], question.id)) for question in questions
    ]


def outputs_at(db: Session, outputs: Sequence[OutputKey]) -> dict[OutputKey, tables.Output]:
    """The rows of these outputs, where there is a file."""
    table, rows = tables.Output, dict[OutputKey, tables.Output]()
    for start in range(0, len(outputs), 200):
        keys = [(key.submission_id, key.sample_id) for key in outputs[start : start + 200]]
        at_keys = tuple_(col(table.submission_id), col(table.sample_id)).in_(keys)
        for row in db.exec(select(table).where(at_keys, table.media_sha256 != "")):
            rows[OutputKey(row.submission_id, row.sample_id)] = row
    return rows

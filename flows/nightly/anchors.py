"""Known answers to ask about again: a fixed anchor set of each judge, and outputs drawn by a
seed."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import tuple_
from sqlmodel import Session, col, select

from evaluators.judges.card import question_key
from flows.run.case import EvaluationCase
from flows.run.tables_io import verdicts_of
from infra import tables
from infra.db import add_new
from infra.tables.operations import Anchor

Item = tuple[str, str]
"""Submission and sample: one output."""
Key = tuple[str, str, str]
"""Submission, sample, question: one answer about an output."""
Cases = Mapping[str, EvaluationCase]


def draw(cases: Cases, count: int, seed: str) -> list[Item]:
    """Outputs drawn evenly over submissions, without repeats, always the same for one seed."""
    dice = random.Random(seed)  # noqa: S311
    ids = sorted(cases)
    drawn = (dice.choice(ids) for _ in range(3 * count))
    return list(dict.fromkeys((one, dice.choice(cases[one].samples).id) for one in drawn))[:count]


def known_answers(db: Session, cases: Cases, items: Sequence[Item]) -> dict[Key, str]:
    """What the judge answered about these outputs when they were judged."""
    rows = outputs_at(db, items)
    judge = next(iter(cases.values())).run.judge
    answers = verdicts_of(db, judge, sorted({row.media_sha256 for row in rows.values()}))
    found: dict[Key, str] = {}
    for (submission, sample), row in rows.items():
        for question, key in _questions(cases[submission], sample):
            answer = answers.get((row.media_sha256, key))
            if answer and answer.value is not None:
                found[submission, sample, question] = answer.value
    return found


def choose_anchors(db: Session, cases: Cases, count: int) -> None:
    """Fix the anchor set of a judge once: outputs that people judged first, then a draw; later
    calls change nothing."""
    case = next(iter(cases.values()))
    here = (Anchor.suite == case.suite.name, Anchor.judge == case.run.judge)
    if count == 0 or db.exec(select(Anchor.suite).where(*here).limit(1)).first():
        return
    people = _by_people(db, cases)
    items = list(
        dict.fromkeys(
            [key[:2] for key in people] + draw(cases, count, f"{case.suite.name} {case.run.judge}")
        )
    )
    items = items[:count]
    known = known_answers(db, cases, items)
    rows = outputs_at(db, items)
    add_new(
        db, Anchor, [_anchor(case, rows[key[:2]], key, known[key], people) for key in sorted(known)]
    )


def anchors_of(db: Session, case: EvaluationCase, cases: Cases) -> dict[Key, str]:
    """The anchor set's answers, as far as its submissions are still on the board."""
    here = (Anchor.suite == case.suite.name, Anchor.judge == case.run.judge)
    rows = db.exec(select(Anchor).where(*here)).all()
    return {
        (row.submission_id, row.sample_id, row.question_id): row.value
        for row in rows
        if row.submission_id in cases
    }


def _anchor(
    case: EvaluationCase, row: tables.Output, key: Key, value: str, people: Mapping[Key, str]
) -> dict[str, Any]:
    submission, sample, question = key
    return Anchor(
        suite=case.suite.name,
        judge=case.run.judge,
        media_sha256=row.media_sha256,
        sample_id=sample,
        question_id=question,
        submission_id=submission,
        media_type=row.media_type,
        value=people.get(key, value),
        source="human" if key in people else "judge",
    ).model_dump()


def _by_people(db: Session, cases: Cases) -> dict[Key, str]:
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
    said: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for submission, sample, question, value in db.exec(query):
        said[submission, sample, question][str(value)] += 1
    found: dict[Key, str] = {}
    for submission, sample in sorted({key[:2] for key in said}):
        for question, hashed in _questions(cases[submission], sample):
            votes = said.get((submission, sample, hashed))
            if votes:
                found[submission, sample, question] = min(
                    votes, key=lambda value: (-votes[value], value)
                )
    return found


def _questions(case: EvaluationCase, sample: str) -> list[tuple[str, str]]:
    """The ids of a sample's questions, with the key under which their answers lie."""
    questions = next(one.questions for one in case.samples if one.id == sample)
    return [
        (question.id, question_key(case.requests[sample], question.id)) for question in questions
    ]


def outputs_at(db: Session, items: Sequence[Item]) -> dict[Item, tables.Output]:
    """The rows of these outputs, where there is a file."""
    table, found = tables.Output, {}
    for start in range(0, len(items), 200):
        some = tuple_(col(table.submission_id), col(table.sample_id)).in_(
            items[start : start + 200]
        )
        for row in db.exec(select(table).where(some, table.media_sha256 != "")):
            found[row.submission_id, row.sample_id] = row
    return found

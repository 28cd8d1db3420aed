"""TailOR entries whose answers a seeded dice gave, stored as the flow stores them and published by
hand."""

from __future__ import annotations

import hashlib
import random

from sqlmodel import Session

from evaluators.aggregate.cells import bounds
from evaluators.aggregate.columns import scored_metrics, tabulate
from evaluators.aggregate.summaries import summaries
from evaluators.contracts import Answer, Outcome, Output, Sample, Score
from evaluators.judges.card import request_key
from evaluators.suites import suite_named
from flows.publish import receipts
from flows.publish.publish import rank
from flows.publish.seal_chain import seal_run
from flows.run.answers import load_answers
from flows.run.board_keys import board_key, scoring_version
from flows.run.catalogue import judge_row
from flows.run.score_rows import store_results
from infra import tables
from infra.db import add_new
from infra.tables.results import question_key
from tests.boards import seen_by
from tests.standing.tiny import JUDGE

SUITE = suite_named("tailor")


def samples() -> tuple[Sample, ...]:
    """The demo's pictures."""
    return tuple(
        s for s in SUITE.samples() if SUITE.subsets["demo"](s) and s.facets.modality == "image"
    )


def enter(db: Session, name: str, skill: float) -> tables.Run:
    """An entry with outputs, verdicts, scores, cells, ranks, receipt and seals."""
    judge = judge_row(JUDGE)
    submission = tables.Submission(
        id=f"sub-{name}",
        team=name,
        model=name,
        organisation="",
        suite="tailor",
        suite_version=SUITE.version,
        subset="demo",
        kind="outputs",
        trust="B",
        state="published",
        bundle_sha256=name,
        manifest={"partial": False, "modalities": ["image"]},
    )
    board = board_key(SUITE, "demo", judge["fingerprint"])
    run = tables.Run(
        id=f"run-{name}",
        submission_id=submission.id,
        board=board,
        suite="tailor",
        suite_version=SUITE.version,
        scorer_version=SUITE.scorer_version,
        subset="demo",
        judge=judge["fingerprint"],
        state="published",
        eligible=True,
        why_not="",
        n_scored=len(samples()),
        n_expected=len(samples()),
        published_at=tables.now(),
    )
    add_new(db, tables.Judge, [judge])
    add_new(db, tables.Submission, [submission.model_dump()])
    add_new(db, tables.Run, [run.model_dump()])
    seen_by(db, board, run.judge)
    scores = _judged(db, name, skill, judge["fingerprint"])
    within = bounds(scored_metrics(SUITE, scores), samples(), scores)
    store_results(db, run.id, scores, tabulate(SUITE, samples(), scores), within)
    rank(db, SUITE, submission, run, summaries(SUITE, samples(), scores))
    answered = load_answers(db, SUITE, run, samples())
    receipts.keep(db, SUITE, submission, run, answered, {}, scoring_version(SUITE))
    seal_run(db, db.get_one(tables.Run, run.id))
    return run


def _judged(db: Session, name: str, skill: float, judge: str) -> list[Score]:
    dice = random.Random(name)
    scores: list[Score] = []
    outputs, replies, verdicts = [], [], []
    for sample in samples():
        media = hashlib.sha256(f"{name} {sample.id}".encode()).hexdigest()
        facts = {"media_type": "image/png", "size": 1, "record": {"seed": 1}, "reason": ""}
        row = {
            "submission_id": f"sub-{name}",
            "sample_id": sample.id,
            "outcome": "scored",
            "media_sha256": media,
        }
        outputs.append({**row, **facts})
        replies.append(tables.Reply(id=media, judge=judge, media_sha256=media).model_dump())
        answers = {
            question.id: _answer(dice, skill, question.id, question.kind)
            for question in sample.questions
        }
        request = request_key(sample.prompt, sample.facets.modality, sample.questions)
        for key, answer in answers.items():
            asked = {
                "question_sha256": question_key(request, key),
                "repeat": 0,
                "reply_id": media,
                "reason": "",
            }
            said = {
                "judge": judge,
                "media_sha256": media,
                "outcome": "scored",
                "value": answer.value,
            }
            verdicts.append({**asked, **said})
        assert SUITE.scoring is not None
        scores += SUITE.scoring.score(
            sample, Output(sample.id, Outcome.SCORED, record={"seed": 1}), answers
        )
    add_new(db, tables.Output, outputs)
    add_new(db, tables.Reply, replies)
    add_new(db, tables.Verdict, verdicts)
    return scores


def _answer(dice: random.Random, skill: float, key: str, kind: str) -> Answer:
    good = dice.random() < skill
    value = (
        str(dice.choice((4, 5)) if good else dice.choice((0, 1, 2)))
        if kind == "rating"
        else "yes"
        if good
        else "no"
    )
    return Answer(key, Outcome.SCORED, value)

"""Reading and writing the rows of one evaluation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import hypot
from operator import itemgetter
from typing import Any

from sqlalchemy import select as sa_select
from sqlmodel import Session, col, select

from evaluators.aggregate.cells import Bounds
from evaluators.contracts import OUR_FAILURES, Answer, Cell, Outcome, Score
from evaluators.judges.card import question_key
from flows.durable.shard_results import ShardResult
from infra import tables
from infra.db import BATCH_ROWS, add_many, add_new, add_rows, claim
from infra.fields import fields_of
from infra.tables.standing import Noise

OUTCOMES = {outcome.value: outcome for outcome in Outcome}
"""By their words: a look-up costs a tenth of the enumeration's own, and there are tens of
thousands."""


def outputs_of(db: Session, submission_id: str) -> dict[str, tables.Output]:
    """A submission's outputs by sample."""
    found = db.exec(select(tables.Output).where(tables.Output.submission_id == submission_id))
    return {row.sample_id: row for row in found}


def store_outputs(
    db: Session, submission_id: str, done: ShardResult, records: Iterable[Mapping[str, Any]]
) -> None:
    """Take a shard's outputs over, once."""
    if _shard_is_new(db, submission_id, "outputs", done):
        add_new(
            db, tables.Output, [{"submission_id": submission_id, **record} for record in records]
        )


def verdicts_of(
    db: Session, judge: str, media: Sequence[str], repeat: int = 0
) -> dict[tuple[str, str], Answer]:
    """A judge's answers about some files, by file and question key."""
    found: dict[tuple[str, str], Answer] = {}
    files = list(dict.fromkeys(media))
    for start in range(0, len(files), 500):
        table = tables.Verdict
        some = col(table.media_sha256).in_(files[start : start + 500])
        query = sa_select(col(table.media_sha256), col(table.question_sha256), col(table.outcome))
        query = query.add_columns(col(table.value), col(table.reason))
        query = query.where(col(table.judge) == judge, col(table.repeat) == repeat, some)
        for rows in db.connection().execute(query).partitions(BATCH_ROWS):
            for file, question, outcome, value, reason in rows:
                found[file, question] = Answer(question, OUTCOMES[outcome], value, reason)
    return found


def store_verdicts(
    db: Session,
    run: tables.Run,
    done: ShardResult,
    records: Sequence[Mapping[str, Any]],
    requests: Mapping[str, str],
    repeat: int = 0,
    stage: str = "judge",
) -> None:
    """Take a shard's verdicts over, once; an earlier failure of the judge gives way to its new
    answer."""
    if not _shard_is_new(db, run.id, f"repeat-{repeat}" if repeat else stage, done):
        return
    replies = [
        _reply(run.judge, requests[record["sample_id"]], record, repeat) for record in records
    ]
    verdicts: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for record, reply in zip(records, replies, strict=True):
        for row in _verdicts(run.judge, requests[record["sample_id"]], reply["id"], record, repeat):
            verdicts.setdefault(row[:4], row)
    add_rows(
        db,
        tables.Reply,
        REPLY,
        {one["id"]: itemgetter(*REPLY)(one) for one in replies}.values(),
        ANY,
    )
    add_rows(db, tables.Verdict, VERDICT, verdicts.values(), FAILED)


def _reply(judge: str, request: str, record: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    identity = reply_key(judge, record["media_sha256"], request, repeat)
    kept = {
        name: record[name] for name in ("media_sha256", "raw", "tokens_in", "tokens_out", "cost")
    }
    return {"id": identity, "judge": judge, "at": tables.now(), **kept}


REPLY = ("id", "judge", "at", "media_sha256", "raw", "tokens_in", "tokens_out", "cost")
ANY = "1 = 1"


def reply_key(judge: str, media: str, request: str, repeat: int = 0) -> str:
    """The id of a judge's reply to some questions about a file."""
    return hashlib.sha256(f"{judge} {media} {request} {repeat}".encode()).hexdigest()


def replied(db: Session, keys: Sequence[str]) -> set[str]:
    """Those of these replies that are there."""
    some = (keys[start : start + 500] for start in range(0, len(keys), 500))
    return {
        key
        for part in some
        for key in db.exec(select(tables.Reply.id).where(col(tables.Reply.id).in_(part)))
    }


VERDICT = (
    "judge",
    "media_sha256",
    "question_sha256",
    "repeat",
    "outcome",
    "value",
    "reason",
    "reply_id",
)
FAILED = f"verdict.outcome IN ({', '.join(repr(str(one)) for one in sorted(OUR_FAILURES))})"
"""What the judge could not answer before gives way."""


def _verdicts(
    judge: str, request: str, reply: str, record: Mapping[str, Any], repeat: int
) -> Iterator[tuple[Any, ...]]:
    media = record["media_sha256"]
    for said in record["answers"]:
        question = question_key(request, said["question_id"])
        yield judge, media, question, repeat, said["outcome"], said["value"], said["reason"], reply


def _shard_is_new(db: Session, owner: str, stage: str, done: ShardResult) -> bool:
    kept = {name: value for name, value in fields_of(done).items() if name != "fresh"}
    return claim(db, tables.Shard, {"owner": owner, "stage": stage, "at": tables.now(), **kept})


def store_results(
    db: Session,
    run_id: str,
    scores: Sequence[Score],
    cells: Sequence[Cell],
    bounds: Sequence[Bounds] = (),
) -> None:
    """Write a run's scores and cells, replacing none."""
    add_rows(db, tables.Score, SCORE, (_score_values(run_id, score) for score in scores))
    known = {(one.metric, one.facets): one for one in bounds}
    add_many(
        db,
        tables.Cell,
        (cell_row(run_id, cell, known.get((cell.metric, cell.facets))) for cell in cells),
    )


SCORE = ("run_id", "sample_id", "metric", "outcome", "value", "detail")


def _score_values(run_id: str, score: Score) -> tuple[Any, ...]:
    return (
        run_id,
        score.sample_id,
        score.metric,
        score.outcome.value,
        score.value,
        dict(score.detail),
    )


def cell_row(run_id: str, cell: Cell, bounds: Bounds | None = None) -> dict[str, Any]:
    """A cell as a row."""
    return {
        "run_id": run_id,
        "metric": cell.metric,
        "scenario": cell.facets.scenario,
        "task": cell.facets.task,
        "setting": cell.facets.setting,
        "modality": cell.facets.modality,
        "value": cell.value,
        "low": cell.low,
        "high": cell.high,
        "if_worst": bounds.if_worst if bounds else None,
        "if_best": bounds.if_best if bounds else None,
        "n_scored": cell.n_scored,
        "n_expected": cell.n_expected,
        "why_empty": cell.why_empty,
        "source": "",
        "note": cell.note,
    }


def noise_of(db: Session, run_id: str) -> dict[str, float]:
    """What each metric of a run moves by when it is measured again, all sources together; empty if
    nobody measured."""
    found: dict[str, float] = {}
    for row in db.exec(
        select(Noise).where(Noise.run_id == run_id).order_by(Noise.metric, Noise.source)
    ):
        found[row.metric] = hypot(found.get(row.metric, 0.0), row.error)
    return found

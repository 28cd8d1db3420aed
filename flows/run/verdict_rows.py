"""The rows of a judge's replies and verdicts: reading them, and writing a shard's once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import select as sa_select
from sqlmodel import Session, col, select

from evaluators.contracts import OUR_FAILURES, Answer, Outcome
from flows.durable.shard_results import ShardResult
from flows.run.output_rows import claim_shard
from flows.run.questions import QuestionedFile
from infra import tables
from infra.db import BATCH_ROWS, add_rows

OUTCOMES = {outcome.value: outcome for outcome in Outcome}
"""By value: a dictionary look-up takes a tenth of the time of Outcome(value), and a run has tens of
thousands."""
REPLY = ("id", "judge", "at", "media_sha256", "raw", "tokens_in", "tokens_out", "cost")
ALWAYS = "1 = 1"
"""A reply that is there is always replaced by the new one."""
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
FAILED = f"verdict.outcome IN ({', '.join(repr(str(outcome)) for outcome in sorted(OUR_FAILURES))})"
"""A verdict of these outcomes is replaced by a new one: the judge could not answer before."""


def verdicts_of(
    db: Session, judge: str, media: Sequence[str], repeat: int = 0
) -> dict[tuple[str, str], Answer]:
    """A judge's answers about some files, by file and question key."""
    verdicts: dict[tuple[str, str], Answer] = {}
    files = list(dict.fromkeys(media))
    for start in range(0, len(files), 500):
        table = tables.Verdict
        of_these = col(table.media_sha256).in_(files[start : start + 500])
        query = sa_select(col(table.media_sha256), col(table.question_sha256), col(table.outcome))
        query = query.add_columns(col(table.value), col(table.reason))
        query = query.where(col(table.judge) == judge, col(table.repeat) == repeat, of_these)
        for rows in db.connection().execute(query).partitions(BATCH_ROWS):
            for file, question, outcome, value, reason in rows:
                verdicts[file, question] = Answer(question, OUTCOMES[outcome], value, reason)
    return verdicts


def store_verdicts(
    db: Session,
    run: tables.Run,
    shard: ShardResult,
    records: Sequence[Mapping[str, Any]],
    files: Mapping[str, QuestionedFile],
    repeat: int = 0,
    stage: str = "judge",
) -> None:
    """Write a shard's replies and verdicts, once; an earlier failure of the judge is replaced by
    its new answer. `files` are those that were judged, by item."""
    if not claim_shard(db, run.id, f"repeat-{repeat}" if repeat else stage, shard):
        return
    replies: dict[str, tuple[Any, ...]] = {}
    verdicts: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for record in records:
        file = files[record["sample_id"]]
        reply = _reply(run.judge, file.key, record, repeat)
        replies[reply["id"]] = itemgetter(*REPLY)(reply)
        for row in _verdicts(run.judge, file, reply["id"], record, repeat):
            verdicts.setdefault(row[:4], row)
    add_rows(db, tables.Reply, REPLY, replies.values(), ALWAYS)
    add_rows(db, tables.Verdict, VERDICT, verdicts.values(), FAILED)


def _reply(judge: str, request: str, record: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    identity = reply_key(judge, record["media_sha256"], request, repeat)
    copied = ("media_sha256", "raw", "tokens_in", "tokens_out", "cost")
    fields = {name: record[name] for name in copied}
    return {"id": identity, "judge": judge, "at": tables.now(), **fields}


def reply_key(judge: str, media: str, request: str, repeat: int = 0) -> str:
    """The id of a judge's reply to some questions about a file."""
    return hashlib.sha256(f"{judge} {media} {request} {repeat}".encode()).hexdigest()


def stored_replies(db: Session, keys: Sequence[str]) -> set[str]:
    """Those of these replies that are stored."""
    parts = (keys[start : start + 500] for start in range(0, len(keys), 500))
    return {
        key
        for part in parts
        for key in db.exec(select(tables.Reply.id).where(col(tables.Reply.id).in_(part)))
    }


def _verdicts(
    judge: str, file: QuestionedFile, reply: str, record: Mapping[str, Any], repeat: int
) -> Iterator[tuple[Any, ...]]:
    media = record["media_sha256"]
    for answer in record["answers"]:
        question = file.question_keys[answer["question_id"]]
        outcome, value, reason = answer["outcome"], answer["value"], answer["reason"]
        yield judge, media, question, repeat, outcome, value, reason, reply

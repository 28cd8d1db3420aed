"""The rows of a submission's outputs: reading them, and writing a shard's once."""

from __future__ import annotations

from collections.abc import Iterable

from sqlmodel import Session, select

from flows.durable.shard_results import ShardResult
from flows.workers.specs import OutputRecord
from infra import tables
from infra.db import add_new, claim
from infra.fields import fields_of


def outputs_of(db: Session, submission_id: str) -> dict[str, tables.Output]:
    """A submission's outputs by sample."""
    rows = db.exec(select(tables.Output).where(tables.Output.submission_id == submission_id))
    return {row.sample_id: row for row in rows}


def store_outputs(
    db: Session, submission_id: str, shard: ShardResult, records: Iterable[OutputRecord]
) -> None:
    """Write a shard's outputs, once."""
    if claim_shard(db, submission_id, "outputs", shard):
        rows = [{"submission_id": submission_id, **record.as_json()} for record in records]
        add_new(db, tables.Output, rows)


def claim_shard(db: Session, owner: str, stage: str, shard: ShardResult) -> bool:
    """Write the row of a shard; False when it is there, so that its records are written once."""
    fields = {name: value for name, value in fields_of(shard).items() if name != "fresh"}
    return claim(db, tables.Shard, {"owner": owner, "stage": stage, "at": tables.now(), **fields})

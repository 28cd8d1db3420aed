"""The rows of a curation of TailOR: the calls to the model, and the drafts that people decide
about."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sqlmodel import Session, col, select

from evaluators.suites.tailor.curation.prompts import version
from evaluators.suites.tailor.curation.review import BankDraft
from evaluators.suites.tailor.curation.writer import CallOutcome
from infra import tables

RECORDS = "curation"
"""The folder of a bank in which the records of its curation lie."""


def write_records(db: Session, curation: str, folder: Path) -> None:
    """Let a bank carry how it came about: every call with its raw words, every draft with its
    reason, and who decided what."""
    records = folder / RECORDS
    records.mkdir(parents=True, exist_ok=True)
    for name, table in (("calls", tables.CurationCall), ("drafts", tables.Draft)):
        rows = db.exec(select(table).where(table.curation == curation).order_by(col(table.id)))
        lines = [json.dumps(row.model_dump(mode="json"), ensure_ascii=False) for row in rows]
        (records / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def record_id(curation: str, key: str) -> str:
    """The id of a call or draft: the same question in another curation is another record."""
    return hashlib.sha256(f"{curation}\0{key}".encode()).hexdigest()[:16]


def call_row(
    curation: str, model: str, temperature: float | None, reply: CallOutcome
) -> tables.CurationCall:
    """A question with what came back for it."""
    return tables.CurationCall(
        id=record_id(curation, reply.ask.key),
        curation=curation,
        step=reply.ask.step,
        subject=reply.ask.subject,
        status=reply.status,
        reason=reply.reason,
        model=model,
        prompt_version=version(reply.ask.step),
        temperature=temperature,
        payload=reply.payload,
        raw=reply.raw,
        tries=reply.tries,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost=reply.cost,
        at=tables.now(),
    )


def draft_row(curation: str, draft: BankDraft) -> dict[str, Any]:
    """A draft that nobody has decided about yet."""
    row = tables.Draft(
        id=record_id(curation, draft.key),
        call_id=record_id(curation, draft.source),
        curation=curation,
        step=draft.step,
        kind=draft.kind,
        task_id=draft.task_id,
        instance=draft.index,
        field=draft.field,
        position=draft.position,
        payload=dict(draft.payload),
        context=dict(draft.context),
        note=draft.note,
        status="candidate",
        created_at=tables.now(),
    )
    return row.model_dump(exclude={"decided_at"})

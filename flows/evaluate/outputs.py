"""The first step: a model's outputs are generated, or handed-in ones are taken over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from prefect import task
from prefect.cache_policies import NO_CACHE
from sqlalchemy import func
from sqlmodel import Session, select

from flows.durable.gpu_time import GpuTime
from flows.durable.progress import start_progress
from flows.durable.shard_results import ShardResult
from flows.run.case import EvaluationCase
from flows.run.output_rows import outputs_of, store_outputs
from flows.workers import outputs as worker
from flows.workers.executor import cut, is_tried_here, run_shards
from flows.workers.retry import GIVEN_UP, Tries
from flows.workers.specs import OutputRecord, OutputsWork
from infra import tables
from infra.db import add_new, session
from infra.tables.findings import Flag
from infra.tables.operations import SetAside
from submissions.intake.intake import PRIVATE
from submissions.intake.submission_log import log_subject
from submissions.teams.lifecycle import record as note
from submissions.teams.quotas import gpu_seconds

shard_task = task(
    retries=2,
    retry_delay_seconds=[1, 10],
    cache_policy=NO_CACHE,
    persist_result=False,
    log_prints=False,
    retry_condition_fn=is_tried_here,
)
"""Makes a Prefect task of a worker's function: each call is one shard."""
make_outputs = shard_task(worker.make_outputs)
UNCONFINED_TEXT = "Made while the operator let models run without network and files fenced."
OutputRows = Mapping[str, tables.Output]
"""A submission's outputs by sample."""


@dataclass(frozen=True, slots=True)
class PlannedOutputs:
    """The outputs that are stored, and the shards of those that are missing."""

    rows: OutputRows
    shards: tuple[OutputsWork, ...]


@dataclass(frozen=True, slots=True)
class ProducedOutputs:
    """All outputs of a submission, and how many of them were made now."""

    rows: OutputRows
    generated: int


def plan_outputs(case: EvaluationCase) -> PlannedOutputs:
    """See which outputs of a case are stored and which shards are still to be run."""
    with session(case.settings.database) as db:
        rows = outputs_of(db, case.submission.id)
    missing = (shard for shard in _shards(case) if not rows.keys() >= set(shard.sample_ids))
    return PlannedOutputs(rows, tuple(missing))


def produce_outputs(case: EvaluationCase, planned: PlannedOutputs) -> ProducedOutputs:
    """Run the missing shards and store what they return, one transaction a shard."""
    if not planned.shards:
        return ProducedOutputs(planned.rows, 0)
    generated = 0
    start_progress("outputs", sum(len(shard.sample_ids) for shard in planned.shards))
    where = case.place, case.store
    shards = run_shards(make_outputs, planned.shards, *where, "outputs", "outputs", _gpu_time(case))
    try:
        for shard, fields in shards:
            records = [OutputRecord.from_json(record) for record in fields]
            with session(case.settings.database) as db:
                store_outputs(db, case.submission.id, shard, records)
                _note_set_aside(db, case.submission.id, records)
                _note_faults(db, case, shard)
                _note_unconfined(db, case.submission.id, records)
            generated += shard.items * shard.fresh
    finally:
        _note_stderr(case)
    with session(case.settings.database) as db:
        return ProducedOutputs(outputs_of(db, case.submission.id), generated)


def _gpu_time(case: EvaluationCase) -> GpuTime | None:
    """What is left of the time that a handed-in model may work here."""
    if case.submission.kind != "model":
        return None
    with session(case.settings.database) as db:
        earlier = select(func.sum(tables.Shard.seconds)).where(
            tables.Shard.owner == case.submission.id, tables.Shard.stage == "outputs"
        )
        spent = db.exec(earlier).one() or 0.0
    return GpuTime(gpu_seconds(case.settings, case.submission.subset), spent)


def _shards(case: EvaluationCase) -> Iterator[OutputsWork]:
    manifest = case.submission.manifest
    files = {file["sample"]: file["path"] for file in manifest["files"] if file["sample"]}
    media = case.report["media"]
    steps = {file["sample"]: file["steps"] for file in manifest["files"] if file.get("steps")}
    for piece in cut(case.samples, case.settings.shard_size):
        ids = tuple(sample.id for sample in piece)
        yield OutputsWork(
            suite=case.suite.name,
            sample_ids=ids,
            kind=manifest["kind"],
            bundle_sha256=case.submission.bundle_sha256,
            sampling=manifest["sampling"],
            files={sample: files[sample] for sample in ids if sample in files},
            media={sample: media[sample] for sample in ids if sample in media},
            endpoint=manifest.get("endpoint", {}),
            steps={sample: steps[sample] for sample in ids if sample in steps},
            agent=_agent(case, manifest["kind"]),
            yardstick=case.submission.role != "entry",
        )


def _agent(case: EvaluationCase, kind: str) -> str:
    """The agent that runs the model, for a suite that has one; handed-in outputs need none."""
    generation = case.suite.generation
    return case.settings.agent if generation and generation.runs_agent and kind != "outputs" else ""


def _note_faults(db: Session, case: EvaluationCase, shard: ShardResult) -> None:
    """Write into the timeline what failed on our side and was tried again."""
    if case.submission.kind == "outputs":
        return
    tries = Tries(case.store, shard.inputs_sha256)
    for fault in [*tries.faults(), *tries.dead_workers()]:
        name = _public_name(fault.sample_id)
        text = f"{name}: {fault.reason}. This is our fault; it was tried again."
        note(db, case.submission.id, "tried_again", text)


def _note_stderr(case: EvaluationCase) -> None:
    """Write what failing processes of the model wrote into the log of its submission, which its
    team reads, and not into the timeline, which everybody reads."""
    entries = list(case.store.list(f"{worker.STDERR}/{case.submission.id}/"))
    if not entries:
        return
    with session(case.settings.database) as db:
        for entry in entries:
            words = case.store.get(entry.key).decode("utf-8", "replace")
            note(db, log_subject(case.submission.id), worker.STDERR, words)
    for entry in entries:
        case.store.delete(entry.key)


def _note_unconfined(db: Session, submission_id: str, records: Iterable[OutputRecord]) -> None:
    """Flag what a model made while an operator let it run unfenced, and say so once."""
    marked = [output.sample_id for output in records if output.record.get(worker.UNCONFINED)]
    shown = [sample_id for sample_id in marked if not sample_id.startswith(PRIVATE)]
    if marked and not is_unconfined(db, submission_id):
        note(db, submission_id, worker.UNCONFINED, UNCONFINED_TEXT)
    rows = [
        Flag(
            submission_id=submission_id,
            sample_id=sample_id,
            kind=worker.UNCONFINED,
            text=UNCONFINED_TEXT,
        )
        for sample_id in shown
    ]
    add_new(db, Flag, [row.model_dump() for row in rows])


def is_unconfined(db: Session, submission_id: str) -> bool:
    """Whether outputs of this submission are flagged as made by an unfenced model."""
    return (
        db.exec(
            select(Flag.sample_id)
            .where(Flag.submission_id == submission_id, Flag.kind == worker.UNCONFINED)
            .limit(1)
        ).first()
        is not None
    )


def _note_set_aside(db: Session, submission_id: str, records: Iterable[OutputRecord]) -> None:
    """Write into rows and into the timeline which samples were given up."""
    for output in records:
        if GIVEN_UP not in output.record:
            continue
        row = SetAside(
            owner=submission_id,
            stage="outputs",
            sample_id=output.sample_id,
            tries=output.record[GIVEN_UP],
            reason=output.reason,
            at=tables.now(),
        )
        add_new(db, SetAside, [row.model_dump()])
        note(db, submission_id, "set_aside", f"{_public_name(output.sample_id)}: {output.reason}")


def _public_name(sample_id: str) -> str:
    """How a timeline, which everybody reads, names a sample: private ones by no name."""
    return "A private sample" if sample_id.startswith(PRIVATE) else sample_id

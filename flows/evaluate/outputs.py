"""The first step: a model's outputs are generated, or handed-in ones are taken over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from prefect import task
from prefect.cache_policies import NO_CACHE
from sqlmodel import Session

from flows.durable.progress import start_progress
from flows.run.case import EvaluationCase
from flows.run.output_rows import outputs_of, store_outputs
from flows.workers import outputs as worker
from flows.workers.executor import cut, run_shards
from flows.workers.retry import GIVEN_UP
from flows.workers.specs import OutputRecord, OutputsWork
from infra import tables
from infra.db import add_new, session
from infra.tables.operations import SetAside
from submissions.teams.lifecycle import record as note

shard_task = task(
    retries=2,
    retry_delay_seconds=[1, 10],
    cache_policy=NO_CACHE,
    persist_result=False,
    log_prints=False,
)
"""Makes a Prefect task of a worker's function: each call is one shard."""
make_outputs = shard_task(worker.make_outputs)
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
    shards = run_shards(make_outputs, planned.shards, *where, "outputs", "outputs")
    for shard, fields in shards:
        records = [OutputRecord.from_json(record) for record in fields]
        with session(case.settings.database) as db:
            store_outputs(db, case.submission.id, shard, records)
            _note_set_aside(db, case.submission.id, records)
        generated += shard.items * shard.fresh
    with session(case.settings.database) as db:
        return ProducedOutputs(outputs_of(db, case.submission.id), generated)


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
        )


def _agent(case: EvaluationCase, kind: str) -> str:
    """The agent that runs the model, for a suite that has one; handed-in outputs need none."""
    generation = case.suite.generation
    return case.settings.agent if generation and generation.runs_agent and kind != "outputs" else ""


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
        note(db, submission_id, "set_aside", f"{output.sample_id}: {output.reason}")

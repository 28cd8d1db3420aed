"""Recomputing a published number from what is stored, and saying whether it comes out the same."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session, select

from evaluators.suites import suite_named
from flows.durable.shard_results import ShardResult, records_of
from flows.evaluate import failure_modes
from flows.evaluate.score import RunScores, compute
from flows.run.case import EvaluationCase, NoSuchSubmission, Stopped
from flows.run.output_rows import outputs_of
from flows.run.questions import questioned_files
from flows.run.score_rows import cell_row
from flows.run.verdict_rows import verdicts_of
from infra import tables
from infra.db import session
from infra.settings import Settings
from infra.store import StoreError, fetch_blob
from infra.tables.findings import FailureRow
from infra.tables.results import question_key
from submissions.format.errors import shown


@dataclass(frozen=True, slots=True)
class Verified:
    """How much was recomputed, and the differences from what is stored."""

    files: int
    verdicts: int
    scores: int
    cells: int
    differences: tuple[str, ...]


def verify(settings: Settings, submission_id: str) -> Verified:
    """Check files against hashes, verdicts against the judge's records, scores and cells against a
    recomputation."""
    differences: list[str] = []
    files = verdicts = scores = cells = 0
    for case in _cases(settings, submission_id):
        files += _check_files(case, differences)
        verdicts += _check_verdicts(case, differences)
        computed = _rated(case) or compute(case)
        with session(settings.database) as db:
            stored_scores = {
                (row.sample_id, row.metric): (row.outcome, row.value)
                for row in _rows(db, tables.Score, case)
            }
            stored_cells = {
                _address(row.model_dump()): _figures(row.model_dump())
                for row in _rows(db, tables.Cell, case)
            }
        fresh = {
            (score.sample_id, score.metric): (str(score.outcome), score.value)
            for score in computed.scores
        }
        within = {(bound.metric, bound.facets): bound for bound in computed.bounds}
        rows = [
            cell_row(case.run.id, cell, within.get((cell.metric, cell.facets)))
            for cell in computed.cells
        ]
        again = {_address(row): _figures(row) for row in rows}
        differences += _compare("score", stored_scores, fresh) + _compare(
            "cell", stored_cells, again
        )
        differences += _check_failures(case)
        scores, cells = scores + len(fresh), cells + len(again)
    return Verified(files, verdicts, scores, cells, tuple(differences))


def _cases(settings: Settings, submission_id: str) -> list[EvaluationCase]:
    """Every published run of the submission, whoever judged it."""
    with session(settings.database) as db:
        submission = db.get(tables.Submission, submission_id)
        if submission is None:
            raise NoSuchSubmission(
                f"There is no submission {shown(submission_id)}. `armillary status` lists them all."
            )
        if submission.kind == "published":
            raise Stopped(
                "E_NOTHING",
                "submitter",
                "This comes from a paper: there is nothing stored to recompute it from.",
            )
        query = select(tables.Run).where(
            tables.Run.submission_id == submission_id, tables.Run.state == "published"
        )
        runs = db.exec(query).all()
    if not runs:
        raise Stopped(
            "E_NOTHING", "submitter", f"{submission_id} is not published yet. Evaluate it first."
        )
    return [
        EvaluationCase(settings, submission, suite_named(submission.suite), run) for run in runs
    ]


def _rated(case: EvaluationCase) -> RunScores | None:
    """What people's stored ratings make of a submission, if people judged this run."""
    from flows.studies.board import recomputed  # it publishes, and so knows almost everything here

    with session(case.settings.database) as db:
        return recomputed(db, case.run)


def _check_files(case: EvaluationCase, differences: list[str]) -> int:
    """Every stored file still has the hash it is known by."""
    with session(case.settings.database) as db:
        hashes = sorted(
            {
                row.media_sha256
                for row in outputs_of(db, case.submission.id).values()
                if row.media_sha256
            }
        )
    with tempfile.TemporaryDirectory(prefix="armillary-verify-") as folder:
        for sha256 in hashes:
            try:
                fetch_blob(case.store, sha256, Path(folder) / "file")
            except StoreError as error:
                differences.append(f"file {sha256[:12]}: {error}")
    return len(hashes)


def _check_verdicts(case: EvaluationCase, differences: list[str]) -> int:
    """The verdict rows say what the judge's stored records say."""
    with session(case.settings.database) as db:
        shards = db.exec(
            select(tables.Shard).where(
                tables.Shard.owner == case.run.id, tables.Shard.stage == "judge"
            )
        ).all()
        files_by_sample = questioned_files(
            case.suite, case.samples, outputs_of(db, case.submission.id), case.requests
        )
        questioned = [file for files in files_by_sample.values() for file in files]
        stored = verdicts_of(db, case.run.judge, [file.media_sha256 for file in questioned])
    requests = {file.item.id: file.key for file in questioned}
    count = 0
    for shard in sorted(shards, key=lambda shard: shard.at):
        result = ShardResult(
            shard.inputs_sha256, shard.key, shard.sha256, shard.items, shard.seconds, fresh=False
        )
        try:
            records = records_of(case.store, result)
        except (StoreError, ValueError) as error:
            differences.append(f"shard {shard.key}: {error}")
            continue
        for record in records:
            request = requests.get(record["sample_id"])
            if request is None:
                continue  # a private sample: no number of it is on the board
            for answer in record["answers"]:
                row = stored.get(
                    (record["media_sha256"], question_key(request, answer["question_id"]))
                )
                if row is None or (answer["value"] is not None and row.value != answer["value"]):
                    differences.append(
                        f"verdict {record['sample_id']} {answer['question_id']}: "
                        f"{row and row.value} stored"
                    )
                count += 1
    return count


def _check_failures(case: EvaluationCase) -> list[str]:
    """What the second look found follows from its stored answers."""
    with session(case.settings.database) as db:
        return failure_modes.differences(case, _rows(db, FailureRow, case).all())


def _rows(db: Session, table: Any, case: EvaluationCase) -> Any:
    return db.exec(select(table).where(table.run_id == case.run.id))


def _address(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("metric", "scenario", "task", "setting", "modality"))


def _figures(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        row[name]
        for name in ("value", "low", "high", "if_worst", "if_best", "n_scored", "n_expected")
    )


def _compare(kind: str, stored: dict[Any, Any], fresh: dict[Any, Any]) -> list[str]:
    keys = sorted(stored.keys() | fresh.keys())
    return [
        f"{kind} {' '.join(key)}: {stored.get(key)} stored, {fresh.get(key)} recomputed"
        for key in keys
        if stored.get(key) != fresh.get(key)
    ]

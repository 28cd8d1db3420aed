"""The rows of a run's numbers: scores, cells, measured noise, and the code that computed them."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Any

from sqlmodel import Session, select

from evaluators.aggregate.cells import Bounds
from evaluators.contracts import Cell, Score, Suite
from flows.run.board_keys import ScoringVersion, scoring_version
from flows.run.case import EvaluationCase
from flows.run.scoring_code import module_hashes
from infra import tables
from infra.db import add_many, add_new, add_rows, put
from infra.release import commit, release
from infra.tables.operations import CodeVersion, RunMark
from infra.tables.standing import Noise

SCORE = ("run_id", "sample_id", "metric", "outcome", "value", "detail")


def store_results(
    db: Session,
    run_id: str,
    scores: Sequence[Score],
    cells: Sequence[Cell],
    bounds: Sequence[Bounds] = (),
) -> None:
    """Write a run's scores and cells, replacing none."""
    add_rows(db, tables.Score, SCORE, (_score_values(run_id, score) for score in scores))
    bounds_by_cell = {(bound.metric, bound.facets): bound for bound in bounds}
    add_many(
        db,
        tables.Cell,
        (cell_row(run_id, cell, bounds_by_cell.get((cell.metric, cell.facets))) for cell in cells),
    )


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
    noise: dict[str, float] = {}
    for row in db.exec(
        select(Noise).where(Noise.run_id == run_id).order_by(Noise.metric, Noise.source)
    ):
        noise[row.metric] = hypot(noise.get(row.metric, 0.0), row.error)
    return noise


def put_mark(db: Session, case: EvaluationCase, version: ScoringVersion) -> None:
    """Write down which code and which samples a run's numbers were computed with."""
    mark = RunMark(
        run_id=case.run.id,
        judge_setting=case.settings.judge,
        items_sha256=version.items_sha256,
        code_sha256=version.code_sha256,
        at=tables.now(),
    )
    put(db, RunMark, [mark.model_dump()])
    code = CodeVersion(
        code_sha256=version.code_sha256,
        suite=case.suite.name,
        release=release(),
        commit=commit(),
        modules=module_hashes(case.suite.name),
        at=mark.at,
    )
    add_new(db, CodeVersion, [code.model_dump()])


def is_current(mark: RunMark | None, suite: Suite) -> bool:
    """Say whether the code that computed these numbers is today's; numbers of other code are
    stale."""
    return mark is not None and mark.code_sha256 == scoring_version(suite).code_sha256

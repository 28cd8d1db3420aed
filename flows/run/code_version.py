"""What a run's numbers were computed with: when this differs from today's, they are stale."""

from __future__ import annotations

from sqlmodel import Session

from evaluators.contracts import Suite
from flows.run.board_keys import items_sha256
from flows.run.case import EvaluationCase
from flows.run.scoring_code import code_sha256
from infra.db import put
from infra.tables import now
from infra.tables.operations import RunMark


def put_mark(db: Session, case: EvaluationCase) -> None:
    """Note what a run's numbers were computed with."""
    mark = RunMark(
        run_id=case.run.id,
        judge_setting=case.settings.judge,
        items_sha256=items_sha256(case.suite),
        code_sha256=code_sha256(case.suite.name),
        at=now(),
    )
    put(db, RunMark, [mark.model_dump()])


def is_current(mark: RunMark | None, suite: Suite) -> bool:
    """Say whether the code that made these numbers is today's."""
    return mark is not None and mark.code_sha256 == code_sha256(suite.name)

"""The flow that keeps the queue moving: every submission that waits gets an evaluation, once."""

from __future__ import annotations

from prefect import flow
from sqlmodel import col, select

from flows.durable.lease import flow_run_lease
from flows.operate import prefect_runs
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission, now
from submissions.teams.lifecycle import State

PATIENCE = 600
"""Seconds after which one that waits for its team's turn, or whose run died as it began, is asked
for again."""


@flow(name="publish", retries=0, persist_result=False)
def publish() -> list[str]:
    """Ask for an evaluation of everything that was received and has none to come; asked for twice,
    it runs once."""
    with flow_run_lease("publish"):
        return ask(Settings())


def ask(settings: Settings) -> list[str]:
    """The ids of what was asked for now. In a long queue nothing is asked for a second time before
    its first run."""
    with session(settings.database) as db:
        query = select(Submission.id, Submission.updated_at).where(
            Submission.state == State.RECEIVED
        )
        waiting = list(db.exec(query.order_by(col(Submission.created_at), col(Submission.id))))
    to_come = prefect_runs.evaluations(prefect_runs.TO_COME) if waiting else set()
    waiting = [
        (submission_id, since) for submission_id, since in waiting if submission_id not in to_come
    ]
    window = int(now().timestamp() // PATIENCE)
    for submission_id, since in waiting:
        prefect_runs.start(
            "evaluate/evaluate",
            {"submission_id": submission_id},
            key=f"{submission_id}:{since}:{window}",
        )
    return [submission_id for submission_id, _ in waiting]

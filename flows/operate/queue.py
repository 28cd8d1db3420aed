"""Keeping the queue moving: every submission that waits gets an evaluation, once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from operator import attrgetter

from sqlmodel import col, select

from flows.operate import prefect_runs
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission, now
from submissions.teams.fairness import fair_turns
from submissions.teams.lifecycle import PATH, State

AHEAD = 1
"""So many runs more than there are slots wait in Prefect's queue, which is first come, first
served; whoever waits with us is taken by fairness between teams."""
PATIENCE = 600
"""Seconds after which one that waits for its team's turn, or whose run died as it began, is asked
for again."""


@dataclass(frozen=True, slots=True)
class WaitingEntry:
    """A submission that is not through, since when it is in its state, and whose it is."""

    submission_id: str
    team: str
    state: str
    since: datetime


def ask(settings: Settings) -> list[str]:
    """The ids of what was asked for now. In a long queue nothing is asked for a second time before
    its first run."""
    with session(settings.database) as db:
        open_ = [
            WaitingEntry(*columns)
            for columns in db.exec(
                select(Submission.id, Submission.team, Submission.state, Submission.updated_at)
                .where(col(Submission.state).in_(PATH[:-1]))
                .order_by(col(Submission.created_at), col(Submission.id))
            )
        ]
    waiting = [queued for queued in open_ if queued.state == State.RECEIVED]
    if not waiting:
        return []
    to_come = prefect_runs.evaluations(prefect_runs.TO_COME)
    in_work = Counter(
        queued.team
        for queued in open_
        if queued.state != State.RECEIVED or queued.submission_id in to_come
    )
    wanted = [queued for queued in waiting if queued.submission_id not in to_come]
    slots = prefect_runs.slots("gpu")
    room = len(wanted) if slots is None else max(0, slots + AHEAD - len(to_come))
    window = int(now().timestamp() // PATIENCE)
    turns = list(islice(fair_turns(wanted, attrgetter("team"), in_work), room))
    for queued in turns:
        prefect_runs.start(
            "evaluate/evaluate",
            {"submission_id": queued.submission_id},
            key=f"{queued.submission_id}:{queued.since}:{window}",
        )
    return [queued.submission_id for queued in turns]

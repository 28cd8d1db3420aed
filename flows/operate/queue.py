"""Keeping the queue moving: every submission that waits gets an evaluation, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from flows.operate import prefect_runs
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission, now
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
            WaitingEntry(row.id, row.team, row.state, row.updated_at)
            for row in db.exec(
                select(Submission)
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
    for queued in (turns := fair_turns(wanted, in_work)[:room]):
        prefect_runs.start(
            "evaluate/evaluate",
            {"submission_id": queued.submission_id},
            key=f"{queued.submission_id}:{queued.since}:{window}",
        )
    return [queued.submission_id for queued in turns]


def fair_turns(wanted: Sequence[WaitingEntry], in_work: Counter[str]) -> list[WaitingEntry]:
    """In which order to take what waits: always the oldest of the team that has least in work.

    >>> moment = datetime(2026, 1, 1)
    >>> many = [WaitingEntry(f"a{number}", "a", "received", moment) for number in range(3)]
    >>> turns = fair_turns([*many, WaitingEntry("b0", "b", "received", moment)], Counter({"a": 1}))
    >>> [queued.submission_id for queued in turns]
    ['b0', 'a0', 'a1', 'a2']
    """
    left, counts, turns = list(wanted), Counter(in_work), list[WaitingEntry]()
    while left:
        queued = min(left, key=lambda candidate: counts[candidate.team])
        left.remove(queued)
        counts[queued.team] += 1
        turns.append(queued)
    return turns

"""Bringing submissions to the board one after another: each comes to its own end, whatever becomes
of the others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from flows.durable.lease import Busy, LeaseLost
from flows.evaluate.flow import run_here
from flows.run.case import Stopped
from flows.run.errors import stopped_by
from flows.run.quota_turn import Waits
from infra.db import session
from infra.settings import Settings
from submissions.teams.lifecycle import State, state_of

log = logging.getLogger("armillary")


@dataclass(frozen=True, slots=True)
class Brought:
    """Where a submission stands after its turn, and what was done; or why it waits; or what stopped
    it."""

    name: str
    state: str
    made: int = 0
    judged: int = 0
    waits: str = ""
    stopped: Stopped | None = None

    @property
    def failed(self) -> bool:
        """Whether it stopped by our fault."""
        return self.stopped is not None and self.stopped.fault == "ours"

    def __str__(self) -> str:
        if self.waits:
            return f"{self.name} waits: {self.waits}"
        if self.stopped:
            return f"{self.name} is {self.state}: {self.stopped.explain()}"
        work = (
            f": {self.made} outputs made and {self.judged} judged in this run"
            if self.made or self.judged
            else ""
        )
        return f"{self.name} is {self.state}{work}."


def bring(settings: Settings, submission_id: str, judge: str = "") -> Brought:
    """Evaluate a submission and say how it ended; only a database that is away is raised, for it
    stops all of them."""
    try:
        evaluated = run_here(submission_id, settings, judge)
    except (Waits, Busy, LeaseLost) as later:
        return Brought(submission_id, _state(settings, submission_id), waits=str(later))
    except SQLAlchemyError:
        raise
    except Exception as error:
        return Brought(
            submission_id, _state(settings, submission_id), stopped=stopped(error, submission_id)
        )
    return Brought(submission_id, evaluated.state, evaluated.made, evaluated.judged)


def stopped(error: Exception, name: str) -> Stopped:
    """The end that an error means, with a trace in the log where nobody foresaw it."""
    if not isinstance(error, Stopped):
        log.error("%s", name, exc_info=error)
    return stopped_by(error)


def counted(rows: Sequence[Brought], noun: str) -> str:
    """How many of them are on the board, how many failed and how many wait, in one sentence."""
    published = sum(row.state == State.PUBLISHED and not (row.waits or row.stopped) for row in rows)
    failed, waiting = sum(row.failed for row in rows), sum(bool(row.waits) for row in rows)
    parts = [f"{published} of {len(rows)} {noun}"]
    parts += [f"{failed} failed by our fault"] if failed else []
    parts += [f"{waiting} wait{'s' if waiting == 1 else ''}"] if waiting else []
    return ", ".join(parts) + "."


def _state(settings: Settings, submission_id: str) -> str:
    with session(settings.database) as db:
        return state_of(db, submission_id)

"""The one process that must always run: it frees what died, empties the inbox and asks for an
evaluation of whatever waits. Each duty has a thread of its own, so a long one keeps no other
waiting; nothing is started anew for a round in which nothing happens.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from flows.durable.lease import RUN, Busy, hold_lease
from flows.operate import inbox, queue, watchdog
from flows.workers.executor import served
from infra.alive import note_round, sign_of_life
from infra.db import session
from infra.settings import Settings

log = logging.getLogger("armillary")
Wait = Callable[[float], bool]
"""Wait so many seconds; True when it is time to stop."""


@dataclass(frozen=True, slots=True)
class Duty:
    """Something to do again and again; it returns what there is to say, if anything."""

    name: str
    seconds: float
    act: Callable[[Settings], str]


def free_the_dead(settings: Settings) -> str:
    """One look of the watchdog."""
    report = str(watchdog.look(settings))
    return "" if report == watchdog.NOTHING else report


def empty_inbox(settings: Settings) -> str:
    """Take what teams dropped, and tidy up behind them; where two attend, one of them does."""
    try:
        with hold_lease(settings, "intake", RUN):
            reports = inbox.sweep(settings)
    except Busy:
        return ""
    return "; ".join(f"{report.uri} {report.state}" for report in reports)


def move_queue(settings: Settings) -> str:
    """Ask Prefect for what waits; without a server evaluations are started by hand."""
    requested = queue.ask(settings) if served() else []
    return f"asked for {', '.join(requested)}" if requested else ""


DUTIES = (
    Duty("watchdog", 30, free_the_dead),
    Duty("inbox", 60, empty_inbox),
    Duty("queue", 20, move_queue),
)


def attend(settings: Settings, say: Callable[[str], None]) -> None:
    """Attend to every duty until the process is stopped."""
    stopped = threading.Event()
    say(f"Attending to {', '.join(duty.name for duty in DUTIES)}.")
    for duty in DUTIES:
        threading.Thread(
            target=repeat, args=(duty, settings, say, stopped.wait), name=duty.name, daemon=True
        ).start()
    stopped.wait()


def repeat(duty: Duty, settings: Settings, say: Callable[[str], None], wait: Wait) -> None:
    """Do it until told to stop; an error is told, and the next round comes all the same."""
    seconds = seconds_between(duty, settings)
    while True:
        if text := _turn(duty, settings):
            say(f"{duty.name}: {text}")
        sign_of_life(duty.name)
        if wait(seconds):
            return


def seconds_between(duty: Duty, settings: Settings) -> float:
    """How long a duty rests between two rounds."""
    return settings.watchdog_seconds if duty.act is free_the_dead else duty.seconds


def _turn(duty: Duty, settings: Settings) -> str:
    try:
        text = duty.act(settings)
        with session(settings.database) as db:
            note_round(db, duty.name)
        return text
    except SQLAlchemyError:
        log.exception("%s: the database does not answer", duty.name)
        return "the database does not answer; the next look tries again"
    except Exception as error:
        log.exception("%s", duty.name)
        return f"{type(error).__name__}: {error}"

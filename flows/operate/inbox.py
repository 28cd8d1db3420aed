"""Emptying the inbox: whatever teams dropped into S3 is handed in, with a report beside it."""

from __future__ import annotations

import logging
import time
from collections import deque
from operator import attrgetter

from flows.evaluate.notify import send_notices
from flows.publish.publish import settle
from flows.studies.orders import carry_out
from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from submissions.format.errors import Problem, shown
from submissions.intake import uploads
from submissions.intake.inbox import InboxItem, Taken, take, waiting
from submissions.teams.fairness import fair_turns

log = logging.getLogger("armillary")
SWEEP_SECONDS = 300.0
"""A sweep begins nothing new after so long: who has dropped something meanwhile gets a turn in the
next."""
REMEMBERED = 24 * 3600.0
"""Whose drops took long within so many seconds comes after others."""
_spent: deque[tuple[float, str, float]] = deque(maxlen=10_000)
"""When a drop was looked at, whose it was, and how many minutes it took; also of one that is tried
again and again by a fault of ours, such as a hub that never ends."""


def sweep(settings: Settings) -> list[Taken]:
    """Take what waits, in fair turns between teams; what fails by our fault, and what a long sweep
    leaves, stays for the next time. Tidy up behind teams, too."""
    with session(settings.database) as db:
        drops = waiting(db, settings) if settings.inbox else []
    until, reports = time.monotonic() + SWEEP_SECONDS, list[Taken]()
    for drop in fair_turns(drops, attrgetter("team"), _lately_spent()):
        began = time.monotonic()
        reports.append(_take(settings, drop))
        ended = time.monotonic()
        _spent.append((ended, drop.team, 1 + (ended - began) / 60))
        if ended > until:
            break
    with session(settings.database) as db:
        uploads.expire(db, open_store(settings.objects, settings.s3_endpoint))
    settle(settings)
    carry_out(settings)
    send_notices(settings)
    return reports


def _lately_spent() -> dict[str, float]:
    """Turns and minutes by team."""
    since, spent = time.monotonic() - REMEMBERED, dict[str, float]()
    for at, team, minutes in _spent:
        if at > since:
            spent[team] = spent.get(team, 0.0) + minutes
    return spent


def _take(settings: Settings, drop: InboxItem) -> Taken:
    """One drop; a fault of ours in it is written down and keeps nobody else's waiting."""
    try:
        report = take(settings, drop)
    except Exception as error:
        log.exception("inbox %s", drop.uri)
        why = Problem(
            "E_INTERNAL",
            shown(drop.uri),
            f"{type(error).__name__} on our side.",
            "It is tried again.",
        )
        return Taken(drop.uri, drop.team, "later", None, (why,))
    log.info("inbox %s: %s %s", report.uri, report.state, report.submission_id or "")
    return report

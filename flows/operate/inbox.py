"""Emptying the inbox: whatever teams dropped into S3 is handed in, with a report beside it."""

from __future__ import annotations

import logging

from flows.evaluate.notify import send_notices
from flows.publish.publish import settle
from flows.studies.orders import carry_out
from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from submissions.format.errors import Problem, shown
from submissions.intake import uploads
from submissions.intake.inbox import InboxItem, Taken, take, waiting

log = logging.getLogger("armillary")


def sweep(settings: Settings) -> list[Taken]:
    """Take everything that waits; what fails by our fault stays for the next time. Tidy up behind
    teams, too."""
    with session(settings.database) as db:
        drops = waiting(db, settings) if settings.inbox else []
    reports = [_take(settings, drop) for drop in drops]
    with session(settings.database) as db:
        uploads.expire(db, open_store(settings.objects, settings.s3_endpoint))
    settle(settings)
    carry_out(settings)
    send_notices(settings)
    return reports


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

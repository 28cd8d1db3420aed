"""Sending notices to teams and operators; a notice that cannot be sent never fails the work that it
is about."""

from __future__ import annotations

import logging

from infra.settings import Settings
from submissions.intake.notices import deliver

log = logging.getLogger("armillary")


def send_notices(settings: Settings) -> None:
    """Send every notice that has not gone out yet."""
    try:
        deliver(settings)
    except Exception:
        log.exception("notices")

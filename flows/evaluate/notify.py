"""Sending what is owed to teams and operators; a message that does not go out never spoils the work
it is about."""

from __future__ import annotations

import logging

from infra.settings import Settings
from submissions.intake.notices import deliver

log = logging.getLogger("armillary")


def tell(settings: Settings) -> None:
    """Send every notice that has not gone out yet."""
    try:
        deliver(settings)
    except Exception:
        log.exception("notices")

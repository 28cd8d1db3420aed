"""The states of a study, and what goes wrong with one."""

from __future__ import annotations

TURNS = {"draft": ("open",), "open": ("closed",), "closed": ("published", "open"), "published": ()}
"""From each state, where it may go."""


class StudyError(Exception):
    """A study cannot be made or moved as asked; the message says why and what to do."""

"""Signs of life of processes that run for ever: files that a platform's probe looks at, and rows
that are seen from every machine."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from sqlmodel import Session, select

from infra import leases
from infra.db import put
from infra.settings import Settings
from infra.tables.operations import Sign


def folder(settings: Settings) -> Path:
    """Where they lie."""
    return settings.home / "alive"


def sign_of_life(name: str) -> None:
    """Say that the loop of this name has just come round."""
    place = folder(Settings())
    place.mkdir(parents=True, exist_ok=True)
    (place / name).touch()


def note_round(db: Session, name: str) -> None:
    """Write down that the loop of this name came round, by the database's clock."""
    put(db, Sign, [{"name": name, "owner": leases.new_owner(), "at": leases.clock(db)}])


def signs(db: Session) -> dict[str, datetime]:
    """When each loop last came round, wherever it runs."""
    return {sign.name: sign.at for sign in db.exec(select(Sign).order_by(Sign.name))}

"""What the board keeps up when a run comes on it, in the transaction that publishes the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, select

from infra.db import put
from infra.tables import Run, Submission
from infra.tables.board import Declared
from leaderboard.queries import addresses

WEIGHTS = {True: "open", False: "closed"}


@contextmanager
def kept_up(db: Session, *runs: ColumnElement[bool]) -> Iterator[None]:
    """Wherever the block puts these runs' figures, they are counted there; what their entries
    declare is taken over."""
    with addresses.recounted(db, *runs):
        yield
    published = select(Run.submission_id).where(col(Run.state) == "published", *runs)
    entries = db.exec(select(Submission).where(col(Submission.id).in_(published)))
    put(db, Declared, [declared(entry) for entry in entries])


def declared(entry: Submission) -> dict[str, Any]:
    """What a ranking shows of an entry and its manifest."""
    model = entry.manifest.get("model", {})
    return {
        "submission_id": entry.id,
        "weights": WEIGHTS.get(model.get("open_weights"), ""),
        "licence": str(model.get("licence") or ""),
        "parameters": model.get("parameters"),
        "role": entry.role,
    }

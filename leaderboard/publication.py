"""What the board keeps up when a run comes on it, in the transaction that publishes the run."""

from __future__ import annotations

from typing import Any

from sqlmodel import Session

from infra.db import put
from infra.tables import Run, Submission
from infra.tables_board import Declared
from leaderboard import places

WEIGHTS = {True: "open", False: "closed"}


def keep_up(db: Session, run_id: str) -> None:
    """Count where the run has figures, and take over what its entry declares."""
    places.count(db, run_id)
    run = db.get(Run, run_id)
    entry = db.get(Submission, run.submission_id) if run else None
    if entry:
        put(db, Declared, [declared(entry)])


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

"""A person's word over the judge's: which failure mode counts for a weak output."""

from __future__ import annotations

from sqlmodel import Session, select

from evaluators.suites import suite_named
from infra.db import session
from infra.settings import Settings
from infra.tables import Run, Sample
from infra.tables.findings import FailureRow
from leaderboard.queries.ranking import NotOnBoard
from submissions.format.errors import shown


def decide(
    settings: Settings, run_id: str, sample_id: str, primary: str, by: str, reason: str
) -> None:
    """Say which mode counts, who says so and why; the other modes that the judge named stay."""
    with session(settings.database) as db:
        row = db.get(FailureRow, (run_id, sample_id))
        if row is None:
            where = f"{shown(run_id)} has no weak output {shown(sample_id)}."
            raise NotOnBoard(f"{where} The API lists them: /v1/runs/{run_id}/failures.")
        known = _modes(db, run_id, sample_id)
        if primary not in known:
            raise NotOnBoard(
                f"{shown(primary)} is no failure mode here. Name one of {', '.join(known)}."
            )
        row.primary, row.decided_by, row.reason = primary, by, reason
        row.modes = [mode for mode in known if mode == primary or mode in row.modes]
        db.add(row)


def _modes(db: Session, run_id: str, sample_id: str) -> list[str]:
    run = db.get_one(Run, run_id)
    look = suite_named(run.suite).second_look
    modality = db.exec(
        select(Sample.modality).where(Sample.id == sample_id, Sample.suite == run.suite)
    ).first()
    return (
        [one.id for one in look.questions(modality) if one.kind == "yes_no"]
        if look and modality
        else []
    )

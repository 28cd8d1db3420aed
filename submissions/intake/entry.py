"""Admission checks: closing dates, blocked teams, model names of other teams, and files handed in
before."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import func
from sqlmodel import Session, col, select

from infra.settings import Settings
from infra.tables import Submission, Team, now
from submissions.format.errors import refusal, shown
from submissions.format.manifest import Manifest
from submissions.format.names import skeleton
from submissions.teams.lifecycle import PATH, State, record
from submissions.teams.tokens import check_team

OPERATORS = "operators"
"""The subject of events that only operators read."""
GONE = (State.WITHDRAWN, State.REJECTED)


def check_entry(
    db: Session, manifest: Manifest, team: str | None, closes: Mapping[str, datetime]
) -> None:
    """Refuse what the catalogue cannot know: a closed suite, a blocked team, a name that is
    somebody else's."""
    if team is not None and manifest.team != team:
        message = f"The manifest names {shown(manifest.team)}, the token is of {shown(team)}."
        raise refusal(
            "E_TEAM", "manifest.team", message, "Write your own team's name into the manifest."
        )
    check_team(db, manifest.team)
    until = closes.get(manifest.suite)
    if until is not None and now() > until:
        raise refusal(
            "E_CLOSED",
            "manifest.suite",
            f"{manifest.suite} took submissions until {until:%Y-%m-%d %H:%M} UTC.",
            "See the board for the next date.",
        )
    _check_model_name(db, manifest)


def check_waiting(db: Session, settings: Settings, team: str) -> None:
    """Refuse more of a team that has enough under way: what waits lies in the store. Teams that are
    not entered (this machine's own) have no limit."""
    if db.get(Team, team) is None:
        return
    open_ = db.exec(
        select(func.count()).where(Submission.team == team, col(Submission.state).in_(PATH[:-1]))
    ).one()
    if open_ >= settings.quota_waiting:
        message = f"{open_} submissions of the team wait or are in work."
        hint = "Hand in more when one of them is through, or cancel one."
        raise refusal("E_QUOTA", "team", message, hint, settings.quota_waiting)


def contents_key(manifest: Manifest) -> str:
    """One hash of all files, whatever they are called and whoever hands them in."""
    return hashlib.sha256(
        "".join(sorted(file.sha256 for file in manifest.files)).encode()
    ).hexdigest()


def note_same_bytes(db: Session, row: Submission) -> None:
    """Tell the operators when another team has handed in the very same files."""
    same = select(Submission.id, Submission.team).where(
        Submission.contents_sha256 == row.contents_sha256, Submission.team != row.team
    )
    for twin_id, team in db.exec(same):
        text = f"W_SAME_BYTES: {row.id} of {row.team} has the same files as {twin_id} of {team}."
        record(db, OPERATORS, "W_SAME_BYTES", text, detail={"submission": row.id, "other": twin_id})


def _check_model_name(db: Session, manifest: Manifest) -> None:
    name = manifest.model.name
    others = select(Submission.model, Submission.team).where(
        Submission.team != manifest.team,
        Submission.trust != "C",
        col(Submission.state).not_in(GONE),
    )
    for model, _ in db.exec(others.distinct()):
        if model == name:
            raise refusal(
                "E_NAME_TAKEN",
                "manifest.model.name",
                f"{shown(name)} is another team's.",
                "Choose another.",
            )
        if skeleton(model) == skeleton(name):
            message = f"{shown(name)} looks like {shown(model)}, which is another team's."
            raise refusal(
                "E_NAME_CONFUSABLE",
                "manifest.model.name",
                message,
                "Choose a name that looks different.",
            )

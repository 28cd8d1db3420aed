"""Teams and their API tokens: shown once, stored as hashes, limited by scope and time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import update
from sqlmodel import Session, col, select

from infra.db import claim
from infra.tables import Team, Token, now
from submissions.format.errors import IntakeError, refusal, shown
from submissions.format.names import check_name
from submissions.teams.rate_limits import spend

SCOPES = ("read", "submit", "annotate", "operate")
MARK = "arm_"
PREFIX = 8
MOST_DAYS = 365
MINUTE = 60


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as the database knows them at this moment."""

    team: str
    prefix: str
    scopes: tuple[str, ...]


def add_team(db: Session, name: str, contact: str = "") -> bool:
    """Enter a team; False if it is there already."""
    try:
        check_name(name)
    except ValueError as error:
        raise refusal("E_NAME", "team", f"{error}.", "Choose a plain name.") from None
    return claim(db, Team, Team(name=name, contact=contact).model_dump())


def set_blocked(db: Session, name: str, blocked: bool) -> None:
    """Shut the door to a team, or open it again."""
    _team(db, name).state = "blocked" if blocked else "active"


def create(
    db: Session, team: str, scopes: Sequence[str] = ("read", "submit"), days: float = 90
) -> str:
    """A new key of a team, 256 random bits; what is returned is shown once and kept nowhere."""
    _team(db, team)
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        raise refusal(
            "E_ARGUMENTS", "scopes", f"Got {shown(wrong)}.", f"Use some of {', '.join(SCOPES)}."
        )
    if not 0 < days <= MOST_DAYS:
        raise refusal(
            "E_ARGUMENTS",
            "days",
            f"Got {days:g}.",
            f"A key holds for up to {MOST_DAYS} days.",
            MOST_DAYS,
        )
    secret = MARK + secrets.token_urlsafe(32)
    db.add(
        Token(
            sha256=_hash(secret),
            prefix=_prefix(secret),
            team=team,
            scopes=list(scopes),
            expires_at=now() + timedelta(days=days),
        )
    )
    return secret


def revoke(db: Session, prefix: str) -> int:
    """Make the keys that begin so useless; how many there were."""
    open_ = (col(Token.prefix) == prefix, col(Token.revoked_at).is_(None))
    return db.connection().execute(update(Token).where(*open_).values(revoked_at=now())).rowcount


def listed(db: Session, team: str | None = None) -> list[Token]:
    """The keys, newest first."""
    rows = select(Token).order_by(col(Token.created_at).desc())
    return list(db.exec(rows.where(Token.team == team) if team else rows))


def caller(db: Session, secret: str | None, address: str, wrong_a_minute: int) -> Caller:
    """Who holds this key; IntakeError for none, a wrong one, or one wrong too often."""
    if not secret:
        raise refusal(
            "E_AUTH_MISSING",
            "authorization",
            "There is no token.",
            "Send Authorization: Bearer TOKEN.",
        )
    token = _find(db, secret)
    if token is None:
        spend(db, f"wrong token {address}", wrong_a_minute, MINUTE)
        raise _invalid()
    team = _team(db, token.team)
    if team.state != "active":
        raise team_blocked()
    token.last_used_at = now()
    db.add(token)
    return Caller(token.team, token.prefix, tuple(token.scopes))


def need(who: Caller, scope: str) -> None:
    """Refuse a caller whose key does not open this."""
    if scope not in who.scopes:
        has = ", ".join(who.scopes)
        raise refusal(
            "E_AUTH_SCOPE",
            "authorization",
            f"This needs {scope}; the token has {has}.",
            "Use another token.",
        )


def team_blocked() -> IntakeError:
    """The refusal of everything that a blocked team sends."""
    return refusal(
        "E_TEAM_BLOCKED",
        "team",
        "This team hands in nothing at present.",
        "Write to the operators.",
    )


def check_team(db: Session, name: str) -> None:
    """Refuse a team that is blocked, by whichever way it comes."""
    row = db.get(Team, name)
    if row is not None and row.state != "active":
        raise team_blocked()


def _find(db: Session, secret: str) -> Token | None:
    """The key's row if it holds now. Rows are found by prefix and compared in constant time."""
    digest, moment = _hash(secret), now()
    rows = db.exec(select(Token).where(Token.prefix == _prefix(secret))).all()
    return _first(
        row for row in rows if hmac.compare_digest(row.sha256, digest) and _holds(row, moment)
    )


def _first(rows: Iterable[Token]) -> Token | None:
    return next(iter(rows), None)


def _holds(row: Token, moment: datetime) -> bool:
    return row.revoked_at is None and row.expires_at > moment


def _invalid() -> IntakeError:
    return refusal(
        "E_AUTH_INVALID",
        "authorization",
        "This token opens nothing.",
        "Ask the operators for a new one.",
    )


def _team(db: Session, name: str) -> Team:
    row = db.get(Team, name)
    if row is None:
        raise refusal(
            "E_TEAM_UNKNOWN",
            "team",
            f"There is no team {shown(name)}.",
            "Add it: armillary operate team add NAME.",
        )
    return row


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _prefix(secret: str) -> str:
    return secret.removeprefix(MARK)[:PREFIX]

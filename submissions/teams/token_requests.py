"""How a team that nobody knows comes to a token: it asks, an operator confirms, it picks the token
up with the code that it was given when it asked."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import timedelta

from sqlalchemy import update
from sqlmodel import Session, col, select

from infra.tables import Team, TokenRequest, now
from submissions.format.errors import IntakeError, refusal
from submissions.format.names import check_name, skeleton
from submissions.teams import tokens
from submissions.teams.rate_limits import spend

OPEN, CONFIRMED, REFUSED, TAKEN = "open", "confirmed", "refused", "taken"
MOST_OPEN = 200
"""Requests that wait at once; more than operators read is somebody's program."""
MOST_AN_HOUR = 5
HOUR = 3600
VALID = timedelta(days=30)
MOST_ABOUT = 500
MOST_CONTACT = 200


def ask(db: Session, team: str, contact: str, about: str, address: str) -> str:
    """Store a request; gives the code that picks the token up, which is kept nowhere."""
    spend(db, f"token requests from {address}", MOST_AN_HOUR, HOUR)
    _check(db, team, contact, about)
    request_id, secret = f"req-{secrets.token_hex(6)}", secrets.token_urlsafe(24)
    db.add(
        TokenRequest(
            id=request_id,
            code_sha256=_hash(secret),
            team=team,
            contact=contact,
            about=about[:MOST_ABOUT],
            state=OPEN,
            created_at=now(),
        )
    )
    return f"{request_id}.{secret}"


def _check(db: Session, team: str, contact: str, about: str) -> None:
    """Refuse a name that is taken or looks like one that is, and what leads nowhere."""
    try:
        check_name(team)
    except ValueError as error:
        raise refusal("E_NAME", "team", f"{error}.", "Choose a plain name.") from None
    if "@" not in contact or not 3 <= len(contact) <= MOST_CONTACT or not contact.isprintable():
        hint = "Operators write there; it is not shown."
        raise refusal("E_CONTACT", "contact", "This is no e-mail address.", hint)
    if not about.isprintable():
        raise refusal("E_NAME", "about", "It holds invisible characters.", "Write one line.")
    if any(skeleton(name) == skeleton(team) for name in db.exec(select(Team.name))):
        hint = "Ask its members for a token, or choose another name."
        raise refusal("E_NAME", "team", "There is a team of this name already.", hint)
    if len(waiting(db)) >= MOST_OPEN:
        raise refusal("E_RATE", "request", "Too many requests wait.", "Try again tomorrow.")


def waiting(db: Session) -> list[TokenRequest]:
    """Requests that no operator has looked at, oldest first; old ones lapse."""
    query = select(TokenRequest).where(
        TokenRequest.state == OPEN, col(TokenRequest.created_at) > now() - VALID
    )
    return list(db.exec(query.order_by(col(TokenRequest.created_at))))


def decide(db: Session, request_id: str, by: str, confirmed: bool) -> None:
    """Confirm or refuse one that waits; IntakeError if it was decided already."""
    state = CONFIRMED if confirmed else REFUSED
    if not _turn(db, request_id, OPEN, state, decided_at=now(), decided_by=by):
        raise refusal("E_STATE", request_id, "It was decided already.", "Look at the list again.")


def state_of(db: Session, code: str) -> TokenRequest:
    """The request that a code belongs to."""
    request_id, _, secret = code.strip().partition(".")
    row = db.get(TokenRequest, request_id, populate_existing=True)
    if row is None or not hmac.compare_digest(row.code_sha256, _hash(secret)):
        raise _unknown()
    if row.created_at <= now() - VALID:
        raise refusal("E_AUTH_INVALID", "code", "This request has lapsed.", "Ask again.")
    return row


def pick_up(db: Session, code: str) -> str:
    """The token of a confirmed request, made now and given once; its team is entered with it."""
    row = state_of(db, code)
    if row.state == TAKEN:
        hint = "Ask the operators for a new one."
        raise refusal("E_AUTH_INVALID", "code", "Its token was picked up already.", hint)
    if row.state != CONFIRMED or not _turn(db, row.id, CONFIRMED, TAKEN):
        raise refusal("E_STATE", "code", f"The request is {row.state}.", "Come back later.")
    if not tokens.add_team(db, row.team, row.contact):
        hint = "Ask again with another name."
        raise refusal("E_NAME", "team", "Another team took this name meanwhile.", hint)
    return tokens.create(db, row.team)


def _turn(db: Session, request_id: str, before: str, after: str, **values: object) -> bool:
    """From one state to another, if it is in that state; only one caller wins."""
    here = (col(TokenRequest.id) == request_id, col(TokenRequest.state) == before)
    statement = update(TokenRequest).where(*here).values(state=after, **values)
    return db.connection().execute(statement).rowcount == 1


def _unknown() -> IntakeError:
    return refusal(
        "E_AUTH_INVALID", "code", "No request has this code.", "Check it letter by letter."
    )


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()

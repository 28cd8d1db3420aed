"""Who asks: the token of a request, looked up on every action, and how often they may."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from sqlmodel import Session

from infra.db import engine
from infra.settings import Settings
from submissions.format.errors import IntakeError
from submissions.teams import tokens
from submissions.teams.rate_limits import spend
from submissions.teams.tokens import Caller

bearer = HTTPBearer(
    auto_error=False, description="A team's token: `armillary operate token create TEAM`."
)


def settings_of(request: Request) -> Settings:
    """The settings of the process that answers."""
    settings: Settings = request.app.state.settings
    return settings


def _caller(request: Request, scope: str) -> Caller:
    """The caller, if the token holds and opens this; every try is counted, the refused ones too."""
    settings = settings_of(request)
    address = request.client.host if request.client else "unknown"
    with Session(engine(settings.database)) as db:
        try:
            who = _known_caller(db, request, address)
            spend(db, f"tokens from {address}", settings.rate_address, tokens.MINUTE)
            spend(db, f"token {who.prefix}", settings.rate_requests, tokens.MINUTE)
            tokens.need(who, scope)
        except IntakeError:
            db.commit()
            raise
        db.commit()
        return who


def _known_caller(db: Session, request: Request, address: str) -> Caller:
    """Who holds the token; a request without a good one is counted against its address alone, so
    that it takes nothing from those who have one."""
    settings = settings_of(request)
    try:
        return tokens.caller(db, _secret(request), address, settings.rate_wrong_tokens)
    except IntakeError:
        spend(db, f"address {address}", settings.rate_address, tokens.MINUTE)
        raise


def _secret(request: Request) -> str | None:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else None


def reader(request: Request, _scheme: Annotated[object, Depends(bearer)]) -> Caller:
    """A caller who may read."""
    return _caller(request, "read")


def submitter(request: Request, _scheme: Annotated[object, Depends(bearer)]) -> Caller:
    """A caller who may hand in."""
    return _caller(request, "submit")


Conf = Annotated[Settings, Depends(settings_of)]
Reads = Annotated[Caller, Depends(reader)]
Submits = Annotated[Caller, Depends(submitter)]

"""From a request to a token: an operator stands between, and a code opens once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import Session, select

from infra.db import migrate, session
from infra.tables import Team, Token, TokenRequest, now
from submissions.format.errors import IntakeError
from submissions.teams import token_requests, tokens


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    url = f"sqlite:///{tmp_path}/a.db"
    migrate(url)
    with session(url) as rows:
        yield rows


def asked(db: Session, team: str = "Owls", address: str = "1.2.3.4") -> str:
    return token_requests.ask(db, team, "a@b.org", "A video model.", address)


def test_a_confirmed_request_gives_a_token_that_hands_in(db: Session) -> None:
    code = asked(db)
    (request,) = token_requests.waiting(db)
    token_requests.decide(db, request.id, "Operators", confirmed=True)

    token = token_requests.pick_up(db, code)

    who = tokens.caller(db, token, "1.2.3.4", 10)
    assert (who.team, who.scopes) == ("Owls", ("read", "submit"))
    assert db.get_one(Team, "Owls").contact == "a@b.org"
    assert token_requests.waiting(db) == []


@pytest.mark.parametrize("decision", [None, False])
def test_nobody_gets_a_token_or_a_team_without_an_operator(
    decision: bool | None, db: Session
) -> None:
    code = asked(db)
    if decision is not None:
        token_requests.decide(db, token_requests.waiting(db)[0].id, "Operators", decision)

    with pytest.raises(IntakeError):
        token_requests.pick_up(db, code)

    assert db.exec(select(Token)).all() == [] and db.exec(select(Team)).all() == []


def test_a_code_opens_once_and_a_wrong_one_never(db: Session) -> None:
    code = asked(db)
    token_requests.decide(db, token_requests.waiting(db)[0].id, "Operators", confirmed=True)

    with pytest.raises(IntakeError, match="No request has this code"):
        token_requests.pick_up(db, code[:-1] + ("A" if code[-1] != "A" else "B"))
    token_requests.pick_up(db, code)

    with pytest.raises(IntakeError, match="picked up already"):
        token_requests.pick_up(db, code)


def test_what_is_decided_stays_so(db: Session) -> None:
    asked(db)
    request = token_requests.waiting(db)[0].id
    token_requests.decide(db, request, "Operators", confirmed=False)

    with pytest.raises(IntakeError, match="decided already"):
        token_requests.decide(db, request, "Operators", confirmed=True)


@pytest.mark.parametrize(
    ("team", "contact"),
    [("0wls", "a@b.org"), ("=cmd", "a@b.org"), ("Cats", "nowhere"), ("Cats", "a@b\u202e.org")],
)
def test_a_name_that_is_taken_or_looks_like_it_and_no_address_are_refused(
    team: str, contact: str, db: Session
) -> None:
    tokens.add_team(db, "Owls")

    with pytest.raises(IntakeError):
        token_requests.ask(db, team, contact, "", "1.2.3.4")

    assert token_requests.waiting(db) == []


def test_one_address_asks_a_few_times_an_hour(db: Session) -> None:
    for number in range(token_requests.MOST_AN_HOUR):
        asked(db, f"Team {number}")

    with pytest.raises(IntakeError, match="E_RATE"):
        asked(db, "Another")


def test_an_old_request_lapses(db: Session) -> None:
    code = asked(db)
    row = db.exec(select(TokenRequest)).one()
    row.created_at = now() - timedelta(days=31)
    db.add(row)
    db.flush()

    assert token_requests.waiting(db) == []
    with pytest.raises(IntakeError, match="lapsed"):
        token_requests.state_of(db, code)

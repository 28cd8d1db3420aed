"""Teams, tokens, rate limits and quotas."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import Session, select

from infra.db import engine, migrate, session
from infra.settings import Settings
from infra.tables import QuotaUse, Submission, Suite, Team, Token, now
from submissions.format.errors import IntakeError
from submissions.teams import quotas, tokens
from submissions.teams.rate_limits import TooOften, spend


@pytest.fixture
def empty(home: Settings) -> Settings:
    migrate(home.database)
    with session(home.database) as db:
        tokens.add_team(db, "Owls")
    return home


def code(error: pytest.ExceptionInfo[IntakeError]) -> str:
    return error.value.problems[0].code


def test_a_token_opens_what_its_scopes_say_and_its_last_use_is_noted(empty: Settings) -> None:
    with session(empty.database) as db:
        secret = tokens.create(db, "Owls", ["read"])

    with session(empty.database) as db:
        who = tokens.caller(db, secret, "1.2.3.4", 10)
    with pytest.raises(IntakeError) as refused:
        tokens.need(who, "submit")
    with session(empty.database) as db:
        assert db.exec(select(Token)).one().last_used_at is not None

    assert (who.team, who.scopes, code(refused)) == ("Owls", ("read",), "E_AUTH_SCOPE")
    assert len(secret) == len("arm_") + 43


def test_unknown_revoked_and_expired_tokens_get_the_same_text(empty: Settings) -> None:
    with session(empty.database) as db:
        revoked, expired = tokens.create(db, "Owls"), tokens.create(db, "Owls")
        tokens.revoke(db, revoked[4:12])
        found = db.exec(select(Token).where(Token.prefix == expired[4:12])).one()
        found.expires_at = now() - timedelta(seconds=1)

    said = set()
    for secret in ("arm_" + "x" * 43, "", revoked, expired, "ü" * 50):
        with session(empty.database) as db, pytest.raises(IntakeError) as refused:
            tokens.caller(db, secret or "-", "1.2.3.4", 10)
        said.add(str(refused.value))

    assert len(said) == 1 and "E_AUTH_INVALID" in said.pop()


def test_a_dump_of_the_database_gives_no_usable_token(empty: Settings) -> None:
    with session(empty.database) as db:
        secret = tokens.create(db, "Owls")
    kept = Path(empty.database.removeprefix("sqlite:///"))

    dump = b"".join(path.read_bytes() for path in kept.parent.glob(kept.name + "*"))

    assert secret[12:].encode() not in dump and secret[4:12].encode() in dump
    with session(empty.database) as db:
        row = db.exec(select(Token)).one()
        for stored in (row.sha256, row.prefix, f"arm_{row.sha256}"):
            with pytest.raises(IntakeError):
                tokens.caller(db, stored, "a", 100)


def test_of_a_thousand_wrong_tokens_ten_a_minute_are_looked_at(empty: Settings) -> None:
    codes: list[str] = []
    with Session(engine(empty.database)) as db:
        for number in range(1000):
            with pytest.raises(IntakeError) as refused:
                tokens.caller(db, f"arm_wrong{number}", "6.6.6.6", 10)
            codes.append(code(refused))

    assert codes[:10] == ["E_AUTH_INVALID"] * 10
    assert codes.count("E_AUTH_INVALID") <= 30 and set(codes) == {"E_AUTH_INVALID", "E_RATE"}


def test_a_rate_renews_with_the_next_span_and_old_counts_go(empty: Settings) -> None:
    with session(empty.database) as db:
        for _ in range(3):
            spend(db, "x", 3, 60, moment=600.0)
        with pytest.raises(TooOften) as often:
            spend(db, "x", 3, 60, moment=630.0)
        spend(db, "y", 3, 60, moment=630.0)
        spend(db, "x", 3, 60, moment=660.0)

    assert 29 <= often.value.retry_after <= 31


def test_a_blocked_team_and_a_wrong_scope_are_refused(empty: Settings) -> None:
    with session(empty.database) as db:
        secret = tokens.create(db, "Owls")
        tokens.set_blocked(db, "Owls", True)

    with session(empty.database) as db, pytest.raises(IntakeError) as refused:
        tokens.caller(db, secret, "1", 10)
    with session(empty.database) as db, pytest.raises(IntakeError) as scope:
        tokens.create(db, "Owls", ["everything"])
    with session(empty.database) as db, pytest.raises(IntakeError) as unknown:
        tokens.create(db, "Nobody")

    assert [code(refused), code(scope), code(unknown)] == [
        "E_TEAM_BLOCKED",
        "E_ARGUMENTS",
        "E_TEAM_UNKNOWN",
    ]


def hand_in(db: Session, number: int, team: str = "Owls") -> str:
    row = Submission(
        id=f"sub-{team}-{number}",
        team=team,
        model="m",
        organisation="o",
        suite="s",
        suite_version="1",
        subset="full",
        kind="outputs",
        trust="B",
        state="received",
        bundle_sha256="",
    )
    db.add(row)
    db.flush()
    return row.id


@pytest.fixture
def suite(empty: Settings) -> Settings:
    with session(empty.database) as db:
        db.add(
            Suite(name="s", position=0, version="1", scorer_version="1", items_sha256="", title="S")
        )
    return empty


def test_three_are_scored_in_seven_days_one_at_a_time_and_our_faults_cost_nothing(
    suite: Settings,
) -> None:
    with session(suite.database) as db:
        ids = [hand_in(db, number) for number in range(5)]

        assert quotas.start(db, suite, ids[0]) and quotas.start(db, suite, ids[0])
        assert not quotas.start(db, suite, ids[1])
        quotas.give_back(db, ids[0])
        for name in ids[1:4]:
            assert quotas.start(db, suite, name)
            quotas.end(db, name)
        with pytest.raises(IntakeError) as over:
            quotas.start(db, suite, ids[4])
        found = quotas.allowance(db, suite, "Owls", "s")

    assert code(over) == "E_QUOTA" and "free at" in over.value.problems[0].hint
    assert (found.used, found.left, found.running) == (3, 0, 0)


def test_a_quota_renews_when_its_days_are_over(suite: Settings) -> None:
    with session(suite.database) as db:
        for number in range(3):
            quotas.start(db, suite, hand_in(db, number))
            quotas.end(db, f"sub-Owls-{number}")
        for use in db.exec(select(QuotaUse)):
            use.started_at = now() - timedelta(days=7, seconds=1)
        db.flush()

        left = quotas.allowance(db, suite, "Owls", "s").left

    assert left == 3


def test_a_team_that_is_not_entered_has_no_limit(suite: Settings) -> None:
    with session(suite.database) as db:
        started = [
            quotas.start(db, suite, hand_in(db, number, "this machine")) for number in range(6)
        ]

    assert all(started)
    with session(suite.database) as db:
        assert not db.get(Team, "this machine")

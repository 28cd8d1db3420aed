"""Quotas on the way: counted as scoring starts, given back when the fault is ours, and waiting is
never silent."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import Session, select

from flows.run.case import Stopped
from flows.run.quota_turn import (
    BEHIND,
    WAITING,
    Waits,
    stop_if_withdrawn,
    stopped_too_slow,
    take_turn,
)
from infra.db import migrate, session
from infra.settings import Settings
from infra.store import open_store
from infra.tables import Event, Submission, Suite, Team, Upload, now
from submissions.intake import uploads
from submissions.teams import quotas
from submissions.teams.lifecycle import State, advance, record, timeline
from tests.servers.postgres import PostgresServer

TEAM = "Owls"


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """A suite and a team on each database."""
    url = ""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = server.fresh_database()
    made = Settings(home=tmp_path / "home", database_url=url, store=str(tmp_path / "objects"))
    migrate(made.database)
    with session(made.database) as db:
        db.add(
            Suite(
                name="s",
                position=0,
                version="1",
                scorer_version="1",
                items_sha256="",
                title="S",
                facts=[],
            )
        )
        db.add(Team(name=TEAM))
    return made


def hand_in(db: Session, name: str) -> str:
    row = Submission(
        id=name, team=TEAM, model="m", organisation="o", suite="s", suite_version="1",
        subset="full", kind="outputs", trust="B", state="received", bundle_sha256="",
    )  # fmt: skip
    db.add(row)
    db.flush()
    record(db, name, State.RECEIVED, "Received.")
    return name


def left(settings: Settings) -> tuple[int, int]:
    with session(settings.database) as db:
        found = quotas.allowance(db, settings, TEAM, "s")
    return found.left, found.running


def end(settings: Settings, name: str, to: State, fault: str = "") -> None:
    with session(settings.database) as db:
        assert advance(db, name, to, "The end.", fault=fault, code="E_X" if fault else "")  # type: ignore[arg-type]


def test_one_runs_the_next_waits_with_one_word_and_runs_when_the_first_has_ended(
    settings: Settings,
) -> None:
    with session(settings.database) as db:
        first, second = hand_in(db, "sub-1"), hand_in(db, "sub-2")
    take_turn(settings, first)
    take_turn(settings, first)

    for _ in range(2):
        with pytest.raises(Waits):
            take_turn(settings, second)

    with session(settings.database) as db:
        said = [(event.kind, event.text) for event in timeline(db, second)]
    assert said == [("received", "Received."), (WAITING, BEHIND)] and left(settings) == (2, 1)
    end(settings, first, State.PUBLISHED)
    take_turn(settings, second)
    assert left(settings) == (1, 1)


def test_our_fault_gives_the_place_back_and_the_submitter_s_does_not(settings: Settings) -> None:
    with session(settings.database) as db:
        ours, theirs, gone = hand_in(db, "sub-1"), hand_in(db, "sub-2"), hand_in(db, "sub-3")
    take_turn(settings, ours)
    end(settings, ours, State.FAILED, "ours")
    after_ours = left(settings)
    take_turn(settings, theirs)
    end(settings, theirs, State.FAILED, "submitter")
    after_theirs = left(settings)
    take_turn(settings, gone)
    end(settings, gone, State.WITHDRAWN, "submitter")

    assert (after_ours, after_theirs, left(settings)) == ((3, 0), (2, 0), (1, 0))


def test_the_first_end_by_our_time_limit_is_free_and_each_further_one_counts(
    settings: Settings,
) -> None:
    said = []
    for name in ("sub-1", "sub-2", "sub-3"):
        with session(settings.database) as db:
            hand_in(db, name)
        take_turn(settings, name)
        stopped = stopped_too_slow(settings, name, "It was tried 3 times.")
        with session(settings.database) as db:
            advance(db, name, State.FAILED, stopped.text, fault=stopped.fault, code=stopped.code)
        said.append((stopped.fault, left(settings)))

    assert said == [("ours", (3, 0)), ("submitter", (2, 0)), ("submitter", (1, 0))]
    assert "ended sub-1 within 7 days too" in stopped_too_slow(settings, "sub-2", "").text
    with session(settings.database) as db:
        for event in db.exec(select(Event)):
            event.at = now() - timedelta(days=8)
    assert stopped_too_slow(settings, "sub-3", "").fault == "ours"


def test_taking_a_slow_model_back_does_not_make_the_next_one_free(settings: Settings) -> None:
    said = []
    for name in ("sub-1", "sub-2"):
        with session(settings.database) as db:
            hand_in(db, name)
        take_turn(settings, name)
        stopped = stopped_too_slow(settings, name, "It was tried 3 times.")
        with session(settings.database) as db:
            advance(db, name, State.FAILED, stopped.text, fault=stopped.fault, code=stopped.code)
        end(settings, name, State.WITHDRAWN, "submitter")
        said.append((stopped.fault, left(settings)))

    assert said == [("ours", (3, 0)), ("submitter", (2, 0))]


def test_a_full_quota_says_when_the_next_place_is_free_and_loses_nothing(
    settings: Settings,
) -> None:
    with session(settings.database) as db:
        names = [hand_in(db, f"sub-{number}") for number in range(4)]
    for name in names[:3]:
        take_turn(settings, name)
        end(settings, name, State.PUBLISHED)

    with pytest.raises(Waits, match="free at"):
        take_turn(settings, names[3])

    with session(settings.database) as db:
        assert db.get_one(Submission, names[3]).state == State.RECEIVED
    take_turn(settings, names[0])
    assert left(settings) == (0, 0)


def test_a_submission_that_its_team_cancels_on_the_way_goes_no_further(settings: Settings) -> None:
    with session(settings.database) as db:
        name = hand_in(db, "sub-1")
        stop_if_withdrawn(db, name)
        advance(db, name, State.JUDGING, "Asking the judge.")
        advance(
            db,
            name,
            State.WITHDRAWN,
            "Cancelled by its team.",
            fault="submitter",
            code="E_WITHDRAWN",
        )

    with session(settings.database) as db, pytest.raises(Stopped, match="taken it back"):
        stop_if_withdrawn(db, name)


def test_uploads_that_were_never_finished_expire_with_their_parts(settings: Settings) -> None:
    store = open_store(settings.objects)
    late, moment = now() - timedelta(hours=1), now()
    with session(settings.database) as db:
        for name, state, until in (
            ("upl-late", "open", late),
            ("upl-dead", "checking", late),
            ("upl-new", "open", moment + timedelta(1)),
            ("upl-done", "finished", late),
        ):
            db.add(
                Upload(
                    id=name,
                    team=TEAM,
                    idempotency_key=name,
                    request_sha256="",
                    suite="s",
                    size=1,
                    sha256="",
                    state=state,
                    problems=[],
                    expires_at=until,
                    updated_at=late,
                )
            )
            store.put(uploads.part_key(name, 1), b"x")

    counts = []
    for _ in range(2):
        with session(settings.database) as db:
            counts.append(uploads.expire(db, store))

    assert counts == [2, 0]
    assert [one.key for one in store.list("uploads/")] == ["uploads/upl-new/00001"]
    with session(settings.database) as db, pytest.raises(Exception, match="expired"):
        uploads.put_part(store, uploads.find(db, TEAM, "upl-late"), 1, Path("nothing"))

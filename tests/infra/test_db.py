"""The database: migrations up, down and up on both engines, and writes that may be repeated."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import BigInteger, Integer, inspect
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel, select

from evaluators.suites import all_suites
from flows.run import catalogue
from infra import tables
from infra.db import (
    DatabaseUnavailable,
    add_many,
    add_new,
    add_rows,
    claim,
    downgrade,
    engine,
    migrate,
    put,
    session,
)
from infra.tables.columns import index_exists_on
from infra.tables.standing import BoardSight, Standing
from leaderboard.queries import entries
from tests.servers.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'test.db'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.fresh_database()


def test_migrations_go_up_down_and_up_again(url: str) -> None:
    migrate(url)
    downgrade(url, "base")
    after_down = set(inspect(engine(url)).get_table_names())
    migrate(url)

    assert after_down <= {"alembic_version"}
    assert set(SQLModel.metadata.tables) <= set(inspect(engine(url)).get_table_names())


def test_migrated_tables_are_the_declared_ones(url: str) -> None:
    migrate(url)

    with engine(url).connect() as connection:
        ours = {"include_object": index_exists_on(connection.dialect.name)}
        differences = compare_metadata(
            MigrationContext.configure(connection, opts=ours), SQLModel.metadata
        )

    assert differences == []


def test_many_rows_are_there_once_and_whole_or_refused_like_any_others(url: str) -> None:
    migrate(url)
    at = datetime(2026, 11, 2, 3, tzinfo=UTC)
    kept = {"owner": "run", "stage": "judge", "key": "k", "sha256": "s", "items": 3, "at": at}
    shards = [{**kept, "inputs_sha256": f"{n}\t\\N", "seconds": n / 8} for n in range(2500)]
    events = [
        {
            "subject": "a %s 'quoted'",
            "actor": "b",
            "kind": "c",
            "at": at,
            "text": "",
            "detail": {"n": [n, None]},
        }
        for n in range(3)
    ]

    with session(url) as db:
        add_many(db, tables.Shard, iter(shards))
        add_many(db, tables.Shard, iter(shards))
        add_many(db, tables.Event, events)

        assert len(db.exec(select(tables.Shard)).all()) == 2500
        shard = db.get(tables.Shard, ("run", "judge", "1234\t\\N"))
        found = db.exec(select(tables.Event)).all()
    assert shard and (shard.seconds, shard.at, shard.items) == (154.25, at, 3)
    assert [(one.subject, one.detail) for one in found] == [
        ("a %s 'quoted'", {"n": [n, None]}) for n in range(3)
    ]
    of_nobody = {
        "run_id": "nobody's",
        "sample_id": "a",
        "outcome": "scored",
        "value": 0.5,
        "detail": {},
    }
    with pytest.raises(IntegrityError), session(url) as db:
        add_many(db, tables.Score, ({**of_nobody, "metric": str(n)} for n in range(2500)))


LARGE = 2**31 + 5
SMALL = (
    "position",
    "tries",
    "attempts",
    "attempt",
    "step",
    "instance",
    "repeat",
    "slot",
    "turn",
    "number",
    "id",
    "event_id",
    "rank",
    "rank_before",
    "raters_per_item",
    "session_items",
    "minutes",
)
"""Places in a list, tries at one thing, and what an operator sets: none of them grows with the
data."""


def test_every_number_of_bytes_tokens_or_things_has_64_bits() -> None:
    whole = [column for table in SQLModel.metadata.sorted_tables for column in table.columns
             if isinstance(column.type, Integer) and column.name not in SMALL]  # fmt: skip

    assert [str(column) for column in whole if not isinstance(column.type, BigInteger)] == []
    assert {"upload.size", "output.size", "reply.tokens_in"} <= {str(column) for column in whole}


def test_sizes_and_counts_of_two_thousand_million_and_more_are_kept(url: str) -> None:
    migrate(url)
    judge = {"fingerprint": "a", "name": "first", "kind": "auto", "card": {}}
    shard = {
        "owner": "run",
        "stage": "judge",
        "key": "k",
        "sha256": "s",
        "seconds": 1.0,
        "at": tables.now(),
    }
    reply = {"judge": "a", "media_sha256": "m", "raw": "", "cost": 0.0, "at": tables.now()}

    with session(url) as db:
        put(db, tables.Judge, [judge])
        add_many(
            db,
            tables.Shard,
            ({**shard, "inputs_sha256": str(n), "items": LARGE} for n in range(2500)),
        )
        put(
            db, tables.Reply, [{**reply, "id": "r", "tokens_in": LARGE, "tokens_out": LARGE * 1000}]
        )
        add_rows(db, tables.RateCount, ("what", "window", "count"), [("a", LARGE, LARGE)])

    with session(url) as db:
        kept = db.exec(select(tables.Reply)).one()
        tried = db.exec(select(tables.RateCount)).one()
        items = set(db.exec(select(tables.Shard.items)))
        total = entries.progress(db, "run")
    assert (kept.tokens_in, kept.tokens_out) == (LARGE, LARGE * 1000)
    assert (tried.window, tried.count, items) == (LARGE, LARGE, {LARGE})
    assert total == {"judge": 2500 * LARGE} and type(total["judge"]) is int


def test_standings_keep_their_numbers_through_a_change_of_their_form(url: str) -> None:
    key = {
        name: name
        for name in ("board", "samples_sha256", "modality", "metric", "scenario", "task", "setting")
    }
    lists = {
        "sizes": [],
        "rank": [1, None, 2],
        "better": [0, None, 1],
        "worse": [1, None, 0],
        "above": [-1, None, 0],
    }
    migrate(url)
    with session(url) as db:
        put(db, Standing, [{**key, "clusters": 80, "bar": 2.5, **lists}])

    downgrade(url, "0012")
    migrate(url)

    with session(url) as db:
        row = db.exec(select(Standing)).one()
    assert {name: getattr(row, name) for name in lists} == lists


def test_boards_that_an_automatic_judge_ranked_before_exams_are_not_examined(url: str) -> None:
    migrate(url)
    with session(url) as db:
        catalogue.load(db)
        submission = db.exec(select(tables.Submission).limit(1)).one()
        cards = {"kind": "auto", "name": "a judge", "card": {}}, {"kind": "human", "name": "people"}
        for card in cards:
            put(db, tables.Judge, [{"card": {}, **card, "fingerprint": card["kind"]}])
            run = tables.Run(
                id=f"run-{card['kind']}",
                submission_id=submission.id,
                board=f"board-{card['kind']}",
                suite="tailor",
                suite_version="1",
                scorer_version="1",
                subset="full",
                judge=str(card["kind"]),
                eligible=True,
                state="published",
            )
            put(db, tables.Run, [run.model_dump()])

    downgrade(url, "0017")
    migrate(url)

    with session(url) as db:
        (row,) = db.exec(select(BoardSight)).all()
    assert (row.board, row.verdict, row.ranked) == ("board-auto", "not examined", False)
    assert row.reasons == ["The judge has sat no exam."]
    assert row.at.tzinfo is not None


def test_the_catalogue_loaded_twice_is_the_catalogue_loaded_once(url: str) -> None:
    migrate(url)
    counts = []
    for _ in range(2):
        with session(url) as db:
            catalogue.load(db)
        with session(url) as db:
            kinds = (
                tables.Suite,
                tables.Metric,
                tables.Sample,
                tables.Submission,
                tables.Run,
                tables.Cell,
                tables.Judge,
            )
            counts.append([len(db.exec(select(kind)).all()) for kind in kinds])

    assert counts[0] == counts[1]
    assert counts[0][0] == len(all_suites())
    assert counts[0][2] == sum(len(suite.samples()) for suite in all_suites())


def test_rows_that_are_there_stay_unless_they_are_to_give_way(url: str) -> None:
    migrate(url)
    row = {"fingerprint": "a", "name": "first", "kind": "auto", "card": {}}
    tried = ("what", "window", "count")
    with session(url) as db:
        add_new(db, tables.Judge, [row, {**row, "fingerprint": "b"}])
        add_rows(db, tables.RateCount, tried, [("a", 1, 1), ("b", 1, 5)])

    with session(url) as db:
        add_new(db, tables.Judge, [{**row, "name": "second"}, {**row, "fingerprint": "c"}])
        add_rows(
            db,
            tables.RateCount,
            tried,
            [("a", 1, 9), ("b", 1, 9), ("c", 1, 9)],
            "attempt.count < 3",
        )

    with session(url) as db:
        assert sorted(db.exec(select(tables.Judge.fingerprint))) == ["a", "b", "c"]
        assert set(db.exec(select(tables.Judge.name))) == {"first"}
        assert dict(db.exec(select(tables.RateCount.what, tables.RateCount.count)).all()) == {
            "a": 9,
            "b": 5,
            "c": 9,
        }


def test_only_the_first_of_two_claims_is_granted(url: str) -> None:
    migrate(url)
    row = {"fingerprint": "a", "name": "first", "kind": "auto", "card": {}}

    with session(url) as db:
        first = claim(db, tables.Judge, row)
    with session(url) as db:
        second = claim(db, tables.Judge, {**row, "name": "second"})

    assert (first, second) == (True, False)


def test_put_lets_the_new_values_stand(url: str) -> None:
    migrate(url)
    row = {"fingerprint": "a", "name": "first", "kind": "auto", "card": {}}
    with session(url) as db:
        put(db, tables.Judge, [row])
        put(db, tables.Judge, [{**row, "name": "second"}])

    with session(url) as db:
        assert db.exec(select(tables.Judge.name)).one() == "second"


def test_moments_keep_their_zone(url: str) -> None:
    migrate(url)
    moment = tables.now()
    with session(url) as db:
        db.add(tables.Event(subject="x", actor="y", kind="z", at=moment))

    with session(url) as db:
        assert db.exec(select(tables.Event.at)).one() == moment


def test_sqlite_commits_survive_a_power_cut(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'test.db'}"

    with engine(url).connect() as connection:
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar()

    assert (mode, synchronous) == ("wal", 2)


def test_a_database_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(DatabaseUnavailable) as error:
        migrate("postgresql+psycopg://someone:hidden-word@127.0.0.1:1/nothing")

    assert "hidden-word" not in str(error.value)
    assert "ARMILLARY_DATABASE_URL" in str(error.value)

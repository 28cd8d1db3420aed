"""Values that no database takes, over HTTP: the caller's fault, told as such, and nobody else
notices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlalchemy.exc import DataError
from sqlmodel import Session

from infra.settings import Settings
from leaderboard.api.app import create
from leaderboard.cache.reader import BadQuestion, CachedReader, NoBoard
from tests.submissions.bad.case import bundle, pictures

from .conftest import ON_BOTH, Desk
from .handing_in import create as promised
from .handing_in import hand_in, promise

ADDRESSES = (
    "suites/tailor/attempts?team=%00",
    "suites/tailor/attempts?team=a%00b",
    "suites/tailor%00/attempts",
    "suites/%00/ranking",
    "suites/tailor/ranking?metric=%00",
    "suites/tailor/ranking?scenario=%00&task=*",
    "suites/tailor/places?metric=%00",
    "suites/tailor/changes?board=%00",
    "runs?suite=%00",
    "runs/%00/cells",
    "runs/%00/samples?metric=index",
    "runs/%00/private",
    "models/%00",
    "status/%00",
    "media/%00",
    "compare?first=%00&second=%00",
    "submissions/%00",
    "submissions/uploads/%00",
)
ODD = (
    "%ED%A0%80",
    "%FF",
    "%F0%9F%98%80",
    "%E2%80%AE",
    "%0A",
    "'%22%3B--",
    "%25%73",
    "%5C",
    "%EF%BF%BF",
    "a" * 10_000,
)
"""A lone surrogate, no UTF-8 at all, an emoji, a turned direction, a new line, signs of SQL and of
formats, much."""


@pytest.fixture
def board(desk: Desk) -> Iterator[TestClient]:
    """The whole API, over the database of the desk."""
    with TestClient(create(desk.settings), raise_server_exceptions=True) as client:
        yield client


@ON_BOTH
@pytest.mark.parametrize("address", ADDRESSES)
def test_nul_in_an_address_is_the_caller_s_fault_and_the_board_goes_on(
    address: str, desk: Desk, board: TestClient
) -> None:
    answer = board.get(f"/v1/{address}", headers=desk.headers())
    after = board.get("/v1/suites/tailor/attempts", params={"team": f"nobody at {address}"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "E_REQUEST")
    assert answer.json()["error"]["where"] in ("path", "query")
    assert after.status_code == 200


@ON_BOTH
@pytest.mark.parametrize("odd", ODD)
def test_odd_characters_in_an_address_are_no_fault_of_ours(
    odd: str, desk: Desk, board: TestClient
) -> None:
    asked = (
        f"suites/tailor/attempts?team={odd}",
        f"suites/{odd}/metrics",
        f"runs/{odd}/cells",
        f"models/{odd}",
        f"media/{odd}",
        f"submissions/{odd}",
    )

    answers = [board.get(f"/v1/{address}", headers=desk.headers()).status_code for address in asked]

    assert set(answers) <= {200, 400, 404}
    assert answers[0] == 200


@ON_BOTH
@pytest.mark.parametrize("page", [0, -1, 10**9 + 1, 10**18, 10**30])
def test_a_page_beyond_all_pages_is_refused(page: int, desk: Desk, board: TestClient) -> None:
    answer = board.get("/v1/runs/run-nobody/samples", params={"metric": "index", "page": page})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "E_REQUEST")


TEXTS: tuple[tuple[str, Any], ...] = (
    ("contact", "a\0b"),
    ("model.licence", "\0"),
    ("model.revision", "x\0"),
    ("disclosure.statement", "\0" * 9),
    ("sampling.note", "\0"),
    ("suite", "tailor\0"),
)


def _put(manifest: dict[str, Any], field: str, value: Any) -> None:
    *parents, last = field.split(".")
    for parent in parents:
        manifest = manifest[parent]
    manifest[last] = value


@ON_BOTH
@pytest.mark.parametrize(("field", "value"), TEXTS, ids=[field for field, _ in TEXTS])
def test_nul_in_a_manifest_is_refused_when_it_is_promised(
    field: str, value: Any, desk: Desk, spot: Path
) -> None:
    body = promise(bundle(spot, pictures(2)))
    _put(body["manifest"], field, value)

    answer = promised(desk, body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "E_REQUEST")


@ON_BOTH
def test_odd_but_sound_texts_come_back_as_they_were(desk: Desk, spot: Path) -> None:
    statement = "a\u202eb 😀 \uffff \\u0000 'quoted\" %s \x7f"
    said = {"trained_on_suite_data": "no", "statement": statement}

    handed = hand_in(desk, bundle(spot, pictures(2), disclosure=said), own=True).json()[
        "submission"
    ]
    model = TestClient(create(desk.settings)).get(f"/v1/models/{handed}").json()

    assert model["manifest"]["disclosure"]["statement"] == statement


@ON_BOTH
def test_nul_in_the_body_of_a_request_is_refused(desk: Desk) -> None:
    body = json.dumps({"uri": "s3://inbox/Test team/a\0.zip"})
    headers = desk.headers(**{"Content-Type": "application/json"})

    answer = desk.client.post("/v1/inbox", content=body, headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "E_REQUEST")


def _divide(db: Session) -> Any:
    return db.connection().execute(text("SELECT 1 / 0")).scalar_one()


def _number(db: Session, number: str) -> Any:
    return (
        db.connection()
        .execute(text("SELECT CAST(:number AS INTEGER)"), {"number": number})
        .scalar_one()
    )


def test_only_a_database_that_cannot_be_reached_is_left_in_peace_for_a_while(
    machine_on_postgres: Settings, tmp_path: Path
) -> None:
    reader = CachedReader(machine_on_postgres.database, tmp_path / "none")

    for question in (_divide, lambda db: _number(db, "x"), lambda db: _number(db, str(2**40))):
        with pytest.raises(BadQuestion) as bad:
            reader.ask(question)
        assert isinstance(bad.value.__cause__, DataError)

    assert reader.ask(_number, "7") == 7


def test_a_database_that_cannot_be_reached_is_asked_once_in_a_while(tmp_path: Path) -> None:
    asked: list[int] = []

    def question(_db: Session) -> int:
        _db.connection()
        asked.append(1)
        return 1

    reader = CachedReader("postgresql+psycopg://nobody:none@127.0.0.1:1/none", tmp_path / "none")

    with pytest.raises(NoBoard, match="has no tables"):
        reader.ask(question)
    with pytest.raises(NoBoard, match="does not answer"):
        reader.ask(question)


def test_tables_that_are_missing_are_no_board(
    machine_on_postgres: Settings, tmp_path: Path
) -> None:
    reader = CachedReader(machine_on_postgres.database, tmp_path / "none")

    with pytest.raises(NoBoard, match="has no tables"):
        reader.ask(lambda db: db.connection().execute(text("SELECT 1 FROM no_such_table")).all())
    assert reader.ask(_number, "8") == 8

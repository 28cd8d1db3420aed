"""The table of bad inputs through the API, and the rows that only an API can have."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from infra.db import session
from infra.store import open_store
from infra.tables import Event, QuotaUse, Submission, Token, Upload, now
from leaderboard.api.door import create_app
from leaderboard.api.problems import STATUS
from submissions.intake import uploads
from submissions.teams import quotas, tokens
from tests.submissions.bad.case import Case, bundle, pictures
from tests.submissions.bad.table import ONE_A_ROW, ONE_IDS, made

from .conftest import ON_BOTH, TEAM, Desk
from .handing_in import OCTETS, create, finish, hand_in, promise, send

pytestmark = [ON_BOTH, pytest.mark.filterwarnings("ignore:Duplicate name")]
BUNDLES = [case for case in ONE_A_ROW if case.row != 9]
"""A bundle of no bytes cannot even be promised; test_row_9 says what happens."""


@pytest.mark.parametrize("case", BUNDLES, ids=[i for i in ONE_IDS if not i.startswith("9 ")])
def test_the_api_gives_each_input_its_code(case: Case, desk: Desk, shelf: Path) -> None:
    answer = hand_in(desk, made(case, shelf))

    body = answer.json()
    if not case.code.startswith("E_"):
        assert answer.status_code == 202 and body["submission"]
        assert {warning["code"] for warning in body["warnings"]} == (
            {case.code} if case.code else set()
        )
        return
    assert {problem["code"] for problem in body["error"]["problems"]} == {case.code}
    assert answer.status_code == STATUS.get(case.code, 422) and body["submission"] is None
    assert body["error"].keys() >= {"code", "where", "message", "hint", "limit"}
    assert str(desk.settings.home) not in answer.text and "/tmp" not in answer.text
    with session(desk.settings.database) as db:
        assert not db.exec(select(Submission).where(Submission.trust != "C")).all()


def refused(answer: object) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]  # type: ignore[attr-defined]


def test_rows_1_to_4_tokens(desk: Desk) -> None:
    def ask(**headers: str) -> tuple[int, str]:
        return refused(desk.client.get("/v1/submissions", headers=headers))

    with session(desk.settings.database) as db:
        reading = tokens.create(db, TEAM, ["read"])
        db.exec(select(Token).where(Token.prefix == desk.token[4:12])).one().revoked_at = now()

    assert ask() == (401, "E_AUTH_MISSING") and ask(Authorization="Basic eDp5") == (
        401,
        "E_AUTH_MISSING",
    )
    assert ask(Authorization=f"Bearer {desk.token}") == (401, "E_AUTH_INVALID")
    scope = desk.client.post(
        "/v1/submissions",
        json={},
        headers={"Authorization": f"Bearer {reading}", "Idempotency-Key": "x" * 9},
    )
    assert refused(scope) == (403, "E_AUTH_SCOPE")
    wrong = [
        desk.client.get("/v1/submissions", headers={"Authorization": f"Bearer arm_{n}"})
        for n in range(25)
    ]
    assert (429, "E_RATE") in [refused(one) for one in wrong[9:]]
    assert all("Retry-After" in one.headers for one in wrong if one.status_code == 429)


@pytest.fixture
def counted(desk: Desk) -> Desk:
    """A desk at which the demo subset costs quota too."""
    settings = desk.settings.model_copy(update={"quota_free": ""})
    return Desk(TestClient(create_app(settings)), settings, desk.token)


def test_row_5_over_the_quota(counted: Desk, spot: Path) -> None:
    desk = counted
    with session(desk.settings.database) as db:
        for number in range(3):
            row: dict[str, Any] = {
                "team": TEAM,
                "suite": "tailor",
                "suite_version": "1.0",
                "state": "published",
            }
            rest: dict[str, Any] = {
                "model": "m",
                "organisation": "o",
                "subset": "demo",
                "kind": "outputs",
                "trust": "B",
            }
            db.add(Submission(id=f"sub-{number}", bundle_sha256="", **row, **rest))
            db.flush()
            quotas.start(db, desk.settings, f"sub-{number}")
            quotas.end(db, f"sub-{number}")

    answer = create(desk, promise(bundle(spot, pictures(2))))

    assert refused(answer) == (429, "E_QUOTA") and "free at" in answer.json()["error"]["hint"]
    me = desk.client.get("/v1/teams/me", headers=desk.headers()).json()
    assert me["quotas"]["tailor"]["left"] == 0 and me["quotas"]["universe"]["left"] == 3


def test_rows_6_to_10_bodies(desk: Desk, spot: Path) -> None:
    data = bundle(spot, pictures(2)).read_bytes()
    upload = create(desk, promise(spot)).json()["upload"]
    path = upload["parts"][0]["path"]

    def put(content: object, **headers: str) -> tuple[int, str]:
        return refused(
            desk.client.put(path, content=content, headers=desk.headers(**{**OCTETS, **headers}))  # type: ignore[arg-type]
        )

    assert put(data + b"x") == (413, "E_TOO_LARGE")
    assert put(iter([data, b"x"])) == (413, "E_TOO_LARGE")
    assert put(data[:-1]) == (400, "E_INCOMPLETE")
    assert put(b"") == (422, "E_EMPTY")
    assert put(data, **{"Content-Type": "text/html"}) == (415, "E_MEDIA_TYPE")
    assert refused(finish(desk, upload["id"])) == (400, "E_INCOMPLETE")
    json_headers = desk.headers(
        **{"Idempotency-Key": "another-key", "Content-Type": "application/json"}
    )
    large = desk.client.post("/v1/submissions", content=b" " * (7 << 20), headers=json_headers)
    assert refused(large) == (413, "E_TOO_LARGE")
    empty = desk.client.post("/v1/submissions", content=b"", headers=json_headers)
    assert refused(empty) == (422, "E_EMPTY")
    assert refused(create(desk, {**promise(spot), "size": 1 << 50}, "key-three")) == (
        413,
        "E_TOO_LARGE",
    )


def test_row_9_a_bundle_of_no_bytes_cannot_be_promised(desk: Desk, spot: Path) -> None:
    spot.write_bytes(b"")

    assert refused(create(desk, promise(spot))) == (400, "E_REQUEST")


def test_row_11_forms_are_not_read_at_all(desk: Desk) -> None:
    parts = {f"f{number}": (None, "x") for number in range(10_000)}
    headers = desk.headers(**{"Idempotency-Key": "form-key"})

    assert refused(desk.client.post("/v1/submissions", files=parts, headers=headers)) == (
        415,
        "E_MEDIA_TYPE",
    )


def test_rows_12_to_14_checksum_retry_and_another_body(desk: Desk, spot: Path) -> None:
    wrong = {**promise(bundle(spot, pictures(2))), "sha256": "0" * 64}
    upload = create(desk, wrong, "first-key").json()["upload"]
    send(desk, upload, spot.read_bytes())
    assert refused(finish(desk, upload["id"])) == (422, "E_CHECKSUM")
    assert refused(finish(desk, upload["id"])) == (422, "E_CHECKSUM")

    first = hand_in(desk, spot, "second-key").json()
    again = hand_in(desk, spot, "third-key").json()
    repeat = create(desk, promise(spot), "second-key")

    assert first["submission"] == again["submission"] and (
        first["duplicate"],
        again["duplicate"],
    ) == (False, True)
    assert repeat.status_code == 200 and repeat.json()["submission"] == first["submission"]
    other = create(desk, {**promise(spot), "size": 5}, "second-key")
    assert refused(other) == (409, "E_IDEMPOTENCY_CONFLICT")


def test_row_15_the_same_files_of_another_team_are_told_to_the_operators(
    desk: Desk, spot: Path
) -> None:
    hand_in(desk, bundle(spot, pictures(2)), "first-key")
    with session(desk.settings.database) as db:
        tokens.add_team(db, "Others")
        other = Desk(desk.client, desk.settings, tokens.create(db, "Others"))
    named: dict[str, Any] = {
        "team": "Others",
        "model": {
            "name": "Sculptor",
            "revision": "1",
            "organisation": "o",
            "licence": "x",
            "open_weights": True,
        },
    }

    answer = hand_in(other, bundle(spot, pictures(2), **named), "first-key", own=True)

    assert answer.status_code == 202
    with session(desk.settings.database) as db:
        told = db.exec(select(Event).where(Event.subject == "operators")).all()
    assert [event.kind for event in told] == ["W_SAME_BYTES"]


def test_rows_99_and_100_names_of_other_teams(desk: Desk, spot: Path) -> None:
    hand_in(desk, bundle(spot, pictures(2)), "first-key")
    with session(desk.settings.database) as db:
        tokens.add_team(db, "Others")
        other = Desk(desk.client, desk.settings, tokens.create(db, "Others"))

    def named(name: str, key: str) -> tuple[int, str]:
        card = {
            "name": name,
            "revision": "1",
            "organisation": "o",
            "licence": "x",
            "open_weights": True,
        }
        return refused(
            hand_in(other, bundle(spot, pictures(3), team="Others", model=card), key, own=True)
        )

    assert named("Painter", "key-number-1") == (409, "E_NAME_TAKEN")
    assert named("Pаinter", "key-number-2") == (422, "E_NAME_CONFUSABLE")
    assert named("PA1NTER", "key-number-3") == (422, "E_NAME_CONFUSABLE")


def test_row_107_an_upload_that_is_never_finished_expires_and_leaves_nothing(
    desk: Desk, spot: Path
) -> None:
    upload = create(desk, promise(bundle(spot, pictures(2)))).json()["upload"]
    send(desk, upload, spot.read_bytes())
    with session(desk.settings.database) as db:
        db.get_one(Upload, upload["id"]).expires_at = now() - timedelta(seconds=1)

    store = open_store(desk.settings.objects)
    counts = []
    for _ in range(2):
        with session(desk.settings.database) as db:
            counts.append(uploads.expire(db, store))

    assert counts == [1, 0]

    assert refused(finish(desk, upload["id"])) == (409, "E_UPLOAD_CLOSED")
    assert not list((Path(desk.settings.objects) / "uploads").rglob("*.part")) and not list(
        path for path in (Path(desk.settings.objects) / "uploads").rglob("*") if path.is_file()
    )


def test_row_109_a_closed_suite(desk: Desk, spot: Path) -> None:
    closed = desk.settings.model_copy(
        update={"closes": {"tailor": datetime(2020, 1, 1, tzinfo=UTC)}}
    )
    desk.client.app.state.settings = closed  # type: ignore[attr-defined]

    assert refused(create(desk, promise(bundle(spot, pictures(2))))) == (409, "E_CLOSED")


def test_row_110_a_blocked_team(desk: Desk, spot: Path) -> None:
    upload = create(desk, promise(bundle(spot, pictures(2)))).json()["upload"]
    with session(desk.settings.database) as db:
        tokens.set_blocked(db, TEAM, True)

    assert refused(finish(desk, upload["id"])) == (403, "E_TEAM_BLOCKED")


def test_all_problems_of_a_manifest_come_at_once_before_anything_is_sent(
    desk: Desk, spot: Path
) -> None:
    said = promise(bundle(spot, pictures(2)))
    said["manifest"]["sampling"]["seed"] = -1
    said["manifest"]["model"]["name"] = "=1"
    del said["manifest"]["contact"]

    error = create(desk, said).json()["error"]

    assert {problem["code"] for problem in error["problems"]} == {
        "E_SEED",
        "E_NAME",
        "E_DISCLOSURE",
    }
    with session(desk.settings.database) as db:
        assert not db.exec(select(QuotaUse)).all() and not db.exec(select(Upload)).all()
    assert json.dumps(error)

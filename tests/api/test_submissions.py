"""What a team sees of its submissions, and what others do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete

from infra.db import session
from infra.tables import Shard
from submissions.teams import tokens
from submissions.teams.lifecycle import State, advance
from tests.submissions.bad.case import bundle, pictures

from .conftest import ON_BOTH, Desk
from .handing_in import hand_in

pytestmark = ON_BOTH


@pytest.fixture
def handed(desk: Desk, spot: Path) -> str:
    return str(hand_in(desk, bundle(spot, pictures(2))).json()["submission"])


def test_status_timeline_and_report_are_there(desk: Desk, handed: str) -> None:
    def get(rest: str) -> object:
        return desk.client.get(f"/v1/submissions/{handed}{rest}", headers=desk.headers()).json()

    status, events, report = get(""), get("/timeline"), get("/report")

    assert isinstance(status, dict) and status["state"] == "received" and "manifest" not in status
    assert isinstance(events, list) and events[0]["kind"] == "received"
    assert isinstance(report, dict) and len(report["media"]) == 2
    listed = desk.client.get("/v1/submissions", headers=desk.headers()).json()
    assert [row["id"] for row in listed] == [handed]


def test_cancel_before_publication_and_withdraw_after(desk: Desk, handed: str) -> None:
    def post(what: str) -> int:
        return desk.client.post(
            f"/v1/submissions/{handed}/{what}", headers=desk.headers()
        ).status_code

    assert post("withdraw") == 409
    with session(desk.settings.database) as db:
        advance(db, handed, State.PUBLISHED, "On the board.")
    assert post("cancel") == 409
    assert post("withdraw") == 200 and post("withdraw") == 200

    status = desk.client.get(f"/v1/submissions/{handed}", headers=desk.headers()).json()
    assert status["state"] == "withdrawn" and status["reason"] == "Withdrawn by its team."


def test_another_team_s_submissions_do_not_exist(desk: Desk, handed: str) -> None:
    with session(desk.settings.database) as db:
        tokens.add_team(db, "Others")
        other = Desk(desk.client, desk.settings, tokens.create(db, "Others"))

    answers = [
        other.client.get(f"/v1/submissions/{handed}", headers=other.headers()),
        other.client.get(f"/v1/submissions/{handed}/report", headers=other.headers()),
        other.client.post(f"/v1/submissions/{handed}/cancel", headers=other.headers()),
        other.client.get("/v1/submissions/sub-nothing", headers=other.headers()),
    ]

    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {
        (404, "E_NOT_FOUND")
    }


def test_the_openapi_says_how_to_hand_in(desk: Desk) -> None:
    paths = desk.client.get("/v1/openapi.json").json()["paths"]

    assert set(paths["/v1/submissions"]) == {"get", "post"}
    assert "requestBody" in paths["/v1/submissions"]["post"]


def test_the_log_tells_what_was_done_line_by_line(desk: Desk, handed: str) -> None:
    with session(desk.settings.database) as db:
        advance(db, handed, State.GENERATING, "Preparing 2 outputs.")
        db.add(
            Shard(
                owner=handed,
                stage="outputs",
                inputs_sha256="i",
                key="k",
                sha256="ab" * 32,
                items=2,
                seconds=1.5,
            )
        )

    said = desk.client.get(f"/v1/submissions/{handed}/logs", headers=desk.headers()).json()

    assert [line["stage"] for line in said] == ["received", "generating", "outputs"]
    assert said[2]["text"] == "2 items in 1.5 s, result abababababab."
    with session(desk.settings.database) as db:
        db.connection().execute(delete(Shard))


def test_one_address_is_limited_whatever_tokens_it_comes_with(desk: Desk) -> None:
    desk.client.app.state.settings = desk.settings.model_copy(update={"rate_address": 5})  # type: ignore[attr-defined]
    with session(desk.settings.database) as db:
        other = tokens.create(db, "Test team")

    answers = [
        desk.client.get("/v1/submissions", headers={"Authorization": f"Bearer {token}"})
        for token in [desk.token, other] * 12
    ]

    limited = [answer for answer in answers if answer.status_code == 429]
    assert limited and {answer.json()["error"]["code"] for answer in limited} == {"E_RATE"}
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in limited)


def test_requests_without_a_token_take_nothing_from_a_token_of_the_same_address(
    desk: Desk,
) -> None:
    desk.client.app.state.settings = desk.settings.model_copy(update={"rate_address": 5})  # type: ignore[attr-defined]
    anonymous = [desk.client.get("/v1/submissions").status_code for _ in range(24)]

    answer = desk.client.get("/v1/submissions", headers=desk.headers())

    assert set(anonymous) == {401, 429} and answer.status_code == 200


def test_a_wrong_method_is_told_all_that_the_place_knows(desk: Desk) -> None:
    answer = desk.client.delete("/v1/submissions", headers=desk.headers())

    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, POST")


def test_a_store_or_database_that_fails_is_our_fault_and_worth_another_try(
    desk: Desk, handed: str, tmp_path: Path
) -> None:
    def asked(**changes: str) -> tuple[int, str, str]:
        desk.client.app.state.settings = desk.settings.model_copy(update=changes)  # type: ignore[attr-defined]
        answer = desk.client.get(f"/v1/submissions/{handed}/report", headers=desk.headers())
        return answer.status_code, answer.json()["error"]["code"], answer.headers["Retry-After"]

    assert asked(store=str(tmp_path / "nothing here")) == (503, "E_STORE", "60")
    assert asked(database_url=f"sqlite:///{tmp_path}") == (503, "E_STORE", "60")


def test_a_body_that_is_no_text_is_refused_like_any_other(desk: Desk) -> None:
    headers = {**desk.headers(), "Content-Type": "application/json"}

    answer = desk.client.post("/v1/inbox", content=b"\xff", headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "E_REQUEST")


def test_the_description_of_the_door_needs_no_network(desk: Desk) -> None:
    page = desk.client.get("/v1/docs")

    assert "POST /v1/submissions" in page.text
    assert "http://" not in page.text and "https://" not in page.text

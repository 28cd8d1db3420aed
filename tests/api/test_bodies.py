"""Token first, then length, then body: on every route, by itself and under the board's address."""

from __future__ import annotations

import json
import os
import re
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from anyio import run
from fastapi import FastAPI, Request
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict, model_validator
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import Message

from infra.db import session
from infra.settings import Settings
from leaderboard.api import bodies, health, routes, standing, submissions
from leaderboard.api.app import create
from leaderboard.api.bodies import MOST_VALUES
from leaderboard.api.submissions import MOST_ADDRESS, MOST_BODY
from leaderboard.api.turns import MOST_OF_A_TEAM, turn_to_promise
from submissions.format.errors import MOST_PROBLEMS, IntakeError
from submissions.teams import tokens
from tests.boards import stock
from tests.servers.process import answers, free_ports, running, wait_until
from tests.submissions.bad.case import bundle, pictures

from .conftest import TEAM, Desk
from .handing_in import OCTETS, promise
from .handing_in import create as promised
from .served import served
from .streaming import CHUNK, Line, request

JSON = {"Content-Type": "application/json"}
LARGE = {"Content-Length": str(400 << 20)}
CHUNKED = {"Transfer-Encoding": "chunked"}
KEY = {"Idempotency-Key": "a-key-of-a-test"}
TAKES_A_BODY = ("POST", "PUT")
MOST_GROWTH = 60 << 20


@pytest.fixture
def address(desk: Desk) -> Iterator[str]:
    """The whole API behind a real port, once by itself and once mounted, as the board serves it."""
    api = create(desk.settings)
    with served(Starlette(routes=[Mount("/api", api), Mount("/", api)])) as address:
        yield address


def _routes() -> list[tuple[str, str]]:
    """Every method and path of the API, with names filled in."""
    paths = create(Settings(home=Path("nowhere"))).openapi()["paths"]
    return [
        (method.upper(), re.sub(r"{number}", "1", re.sub(r"{(?!number)\w+}", "a", path)))
        for path, methods in paths.items()
        for method in methods
    ]


@pytest.mark.parametrize("prefix", ["", "/api"])
@pytest.mark.parametrize("length", [LARGE, CHUNKED], ids=["length", "chunked"])
def test_without_a_token_every_route_answers_before_any_body_is_sent(
    prefix: str, length: dict[str, str], address: str
) -> None:
    statuses = {}
    for method, path in _routes():
        with request(address, method, prefix + path, {**JSON, **KEY, **length}) as line:
            statuses[method, path] = line.status()

    refused = {place: status for place, status in statuses.items() if place[0] in TAKES_A_BODY}
    assert len(refused) >= 6 and set(refused.values()) == {401}
    assert set(statuses.values()) <= {200, 400, 401, 404}


@pytest.mark.parametrize("prefix", ["", "/api"])
@pytest.mark.parametrize("path", ["/v1/submissions", "/v1/inbox"])
def test_a_body_that_says_it_is_too_long_is_refused_before_it_is_sent(
    prefix: str, path: str, desk: Desk, address: str
) -> None:
    with request(address, "POST", prefix + path, desk.headers(**JSON, **KEY, **LARGE)) as line:
        assert line.status() == 413


@pytest.mark.parametrize(
    ("path", "most"), [("/v1/submissions", MOST_BODY), ("/v1/inbox", MOST_ADDRESS)]
)
def test_a_body_of_unknown_length_is_cut_at_the_limit(
    path: str, most: int, desk: Desk, address: str
) -> None:
    with request(address, "POST", path, desk.headers(**JSON, **KEY, **CHUNKED)) as line:
        for _ in range(most // len(CHUNK) + 1):
            assert line.chunk()

        assert line.status() == 413


def test_a_part_of_unknown_length_is_cut_at_its_size(desk: Desk, address: str, spot: Path) -> None:
    upload = promised(desk, promise(bundle(spot, pictures(1)))).json()["upload"]

    with request(
        address, "PUT", upload["parts"][0]["path"], desk.headers(**OCTETS, **CHUNKED)
    ) as line:
        assert line.chunk()

        assert line.status() == 413


def test_no_route_has_its_body_read_before_its_caller_is_known() -> None:
    routers = (routes.router, standing.router, submissions.router, health.router)
    known = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]

    assert len(known) >= len(_routes())
    assert [route.path for route in known if route.body_field is not None] == []


def test_of_half_a_million_unknown_fields_a_schema_sees_those_that_are_told_and_no_more() -> None:
    seen: list[int] = []

    class Small(BaseModel):
        model_config = ConfigDict(extra="forbid")
        name: str

        @model_validator(mode="before")
        @classmethod
        def _count(cls, fields: dict[str, object]) -> dict[str, object]:
            seen.append(len(fields))
            return fields

    body = json.dumps({"name": "a", **{str(number): 0 for number in range(500_000)}}).encode()

    with pytest.raises(IntakeError) as refused:
        bodies.parsed(body, Small)

    assert seen == [1 + MOST_PROBLEMS]
    assert refused.value.total == 500_000
    assert [problem.where for problem in refused.value.problems[:2]] == ["0", "1"]


def test_a_promise_of_more_values_than_a_manifest_has_is_refused_before_they_are_made(
    desk: Desk,
) -> None:
    text = '{"manifest": {"a": [' + "[]," * MOST_VALUES + "[]]}}"

    answer = desk.client.post("/v1/submissions", content=text, headers=desk.headers(**JSON, **KEY))

    assert answer.json()["error"]["code"] == "E_MANIFEST_LARGE"
    assert f"over {MOST_VALUES} values" in answer.json()["error"]["message"]


def test_a_part_costs_no_memory_however_large_it_is(tmp_path: Path) -> None:
    async def receive() -> Message:
        left.pop()
        return {"type": "http.request", "body": bytes(1 << 20), "more_body": bool(left)}

    left = [None] * 64
    coming = Request({"type": "http", "headers": []}, receive)
    with (tmp_path / "part").open("wb") as file:
        tracemalloc.start()
        run(bodies.save, coming, 64 << 20, "part 1", file)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert (tmp_path / "part").stat().st_size == 64 << 20
    assert most < 8 << 20


def test_of_one_team_few_promises_are_read_at_once() -> None:
    request = Request({"type": "http", "app": FastAPI()})

    assert turn_to_promise(request, "Owls") is turn_to_promise(request, "Owls")
    assert turn_to_promise(request, "Owls") is not turn_to_promise(request, "Newts")
    assert turn_to_promise(request, "Owls").total_tokens == MOST_OF_A_TEAM


@pytest.mark.parametrize("prefix", ["", "/api"])
def test_what_a_team_reads_of_its_own_is_kept_by_no_cache(prefix: str, desk: Desk) -> None:
    api = create(desk.settings)
    client = TestClient(Starlette(routes=[Mount("/api", api), Mount("/", api)]))

    private = client.get(f"{prefix}/v1/teams/me", headers=desk.headers())
    public = client.get(f"{prefix}/v1/suites")
    wrong = client.delete(f"{prefix}/v1/submissions")

    assert private.status_code == 200
    assert private.headers["cache-control"] == "private, no-store"
    assert "access-control-allow-origin" not in private.headers
    assert public.headers["cache-control"].startswith("public")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, POST")


@pytest.fixture(scope="module")
def board(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[str, psutil.Process, str]]:
    """Page and API at one address, as `armillary serve` starts them, and a team's token."""
    tmp_path = tmp_path_factory.mktemp("board")
    settings = stock(Settings(home=tmp_path / "home", database_url=""))
    with session(settings.database) as db:
        tokens.add_team(db, TEAM)
        secret = tokens.create(db, TEAM)
    port = free_ports(1)[0]
    environment = {**os.environ, "ARMILLARY_HOME": str(settings.home), "ARMILLARY_PORT": str(port)}
    code = (
        "from flows.cli.serve import run_board; from infra.settings import Settings; "
        "run_board(Settings())"
    )
    with running(
        [sys.executable, "-c", code], tmp_path / "board.log", environment=environment
    ) as server:
        wait_until(lambda: answers(port, "/api/health/live"), [server], 300)
        yield f"http://127.0.0.1:{port}", psutil.Process(server.pid), secret


def test_the_board_itself_does_not_grow_by_what_strangers_send(
    board: tuple[str, psutil.Process, str],
) -> None:
    address, server, _ = board
    before = _resident(server)

    for _ in range(3):
        with request(address, "POST", "/api/v1/inbox", {**JSON, **CHUNKED}) as line:
            _pour(line, 128)

    assert _resident(server) - before < MOST_GROWTH


def test_routes_of_streamlit_that_no_page_uses_are_closed(
    board: tuple[str, psutil.Process, str],
) -> None:
    statuses = {}
    for path in ("/_stcore/upload_file/any/one", "/_stcore/metrics", "/_stcore/agent/interact"):
        with request(board[0], "PUT", path, CHUNKED) as line:
            statuses[path] = line.status()

    assert set(statuses.values()) == {404}


def test_the_board_answers_before_a_body_is_sent(board: tuple[str, psutil.Process, str]) -> None:
    address, _, secret = board
    bearer = {"Authorization": f"Bearer {secret}"}

    with request(address, "POST", "/api/v1/inbox", {**JSON, **LARGE}) as line:
        without = line.status()
    with request(address, "POST", "/api/v1/inbox", {**JSON, **LARGE, **bearer}) as line:
        too_long = line.status()

    assert (without, too_long) == (401, 413)


def test_the_board_believes_no_forwarded_address_that_no_proxy_vouches_for(
    board: tuple[str, psutil.Process, str],
) -> None:
    statuses = set()
    for number in range(30):
        wrong = {"Authorization": "Bearer arm_wrong", "X-Forwarded-For": f"203.0.113.{number}"}
        with request(board[0], "GET", "/api/v1/teams/me", wrong) as line:
            statuses.add(line.status())

    assert 429 in statuses


def _pour(line: Line, count: int) -> None:
    """Send chunk after chunk, as long as the server takes them."""
    for _ in range(count):
        if not line.chunk():
            return


def _resident(server: psutil.Process) -> int:
    """The most memory that the server had at any time."""
    text = Path(f"/proc/{server.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", text)[0]) * 1024

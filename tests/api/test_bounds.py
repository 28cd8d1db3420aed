"""A bundle that keeps its reader busy, through the API: its own error, and nobody else waits for
it."""

from __future__ import annotations

import json
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from inspect import iscoroutinefunction
from itertools import islice, takewhile
from pathlib import Path
from threading import Event, Thread

from anyio import create_task_group, fail_after, run, sleep, to_thread
from fastapi import FastAPI, Request

from leaderboard.api import health
from leaderboard.api.app import create as whole_api
from leaderboard.api.turns import MOST_AT_ONCE, MOST_OF_A_TEAM, in_turn, in_turn_to_show
from submissions.format.errors import IntakeError
from submissions.tools.client import Server
from tests.submissions.bad.case import bundle, pictures
from tests.submissions.bad.costly import heavy_bundle, slow_bundle

from .conftest import ON_BOTH, Desk
from .handing_in import hand_in
from .served import served

BOUNDS = {"intake_cpu_seconds": 0.5, "intake_memory": 512 << 20, "intake_wall_seconds": 60.0}


@ON_BOTH
def test_bundles_beyond_the_bounds_are_refused_and_the_next_is_taken(
    desk: Desk, tmp_path: Path
) -> None:
    desk.client.app.state.settings = desk.settings.model_copy(update=BOUNDS)  # type: ignore[attr-defined]

    slow = hand_in(desk, slow_bundle(tmp_path / "slow.zip"), "key-number-1", own=True)
    heavy = hand_in(desk, heavy_bundle(tmp_path / "heavy.zip"), "key-number-2", own=True)
    sound = hand_in(desk, bundle(tmp_path / "sound.zip", pictures(2)), "key-number-3")

    codes = [(answer.status_code, answer.json()["error"]["code"]) for answer in (slow, heavy)]
    assert codes == [(422, "E_INTAKE_TIME"), (422, "E_INTAKE_MEMORY")]
    assert sound.status_code == 202


def test_while_many_bundles_keep_their_readers_busy_the_board_answers(
    desk: Desk, tmp_path: Path
) -> None:
    settings = desk.settings.model_copy(update={"intake_cpu_seconds": 0.4})
    codes: list[str] = []
    with served(whole_api(settings)) as address:
        _live(address)
        calm = max(islice(_waits(address), 20))
        hanging = [
            Thread(target=_send, args=(address, desk.token, path, codes))
            for path in _several(slow_bundle(tmp_path / "slow.zip"), 2 * MOST_AT_ONCE)
        ]
        for thread in hanging:
            thread.start()
        at_work = takewhile(lambda _: any(map(Thread.is_alive, hanging)), _waits(address))
        waits = list(at_work)

    assert codes == ["E_INTAKE_TIME"] * len(hanging)
    assert len(waits) > 10
    assert max(waits) < 5 + 20 * calm, "calm is what a look takes on this machine without them"


def test_a_team_that_hands_in_much_leaves_turns_to_others() -> None:
    request = Request({"type": "http", "app": FastAPI()})
    gate, at_work = Event(), list[str]()

    def wait(team: str) -> None:
        at_work.append(team)
        assert gate.wait(60)

    async def all_hand_in() -> list[str]:
        async with create_task_group() as hands:
            for team in ["Owls"] * 2 * MOST_AT_ONCE + ["Newts"]:
                hands.start_soon(in_turn, request, team, wait, team)
            with fail_after(60):
                while "Newts" not in at_work or len(at_work) <= MOST_OF_A_TEAM:
                    await sleep(0.01)
            before = sorted(at_work)
            gate.set()
        return before

    assert run(all_hand_in) == ["Newts"] + ["Owls"] * MOST_OF_A_TEAM
    assert len(at_work) == 2 * MOST_AT_ONCE + 1


def test_who_looks_at_many_files_at_once_leaves_threads_to_others() -> None:
    request = Request({"type": "http", "app": FastAPI()})
    gate = Event()

    def wait() -> bool:
        return gate.wait(60)

    async def all_look() -> int:
        async with create_task_group() as looks:
            for _ in range(100):
                looks.start_soon(in_turn_to_show, request, wait)
            with fail_after(60):
                answer = await to_thread.run_sync(lambda: 200)
            gate.set()
        return answer

    assert run(all_look) == 200
    assert iscoroutinefunction(health.live), "the probe needs no thread"


def _several(path: Path, count: int) -> list[Path]:
    """Copies whose comment in the last of their members makes them differ."""
    copies = [path.with_name(f"{number}.zip") for number in range(count)]
    for number, copy in enumerate(copies):
        copy.write_bytes(path.read_bytes())
        with zipfile.ZipFile(copy, "a") as file:
            file.writestr("__MACOSX/note", str(number))
    return copies


def _send(address: str, token: str, path: Path, codes: list[str]) -> None:
    try:
        Server(address, token).hand_in(path)
    except IntakeError as error:
        codes.append(error.problems[0].code)


def _waits(address: str) -> Iterator[float]:
    """How long the board takes to answer, again and again."""
    while True:
        start = time.monotonic()
        _live(address)
        yield time.monotonic() - start
        time.sleep(0.05)


def _live(address: str) -> None:
    with urllib.request.urlopen(f"{address}/health/live", timeout=120) as answer:
        assert json.load(answer) == {"state": "alive"}

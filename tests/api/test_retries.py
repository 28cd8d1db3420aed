"""What a bad line does to submissions: nothing is lost, nothing is there twice."""

from __future__ import annotations

import http.client
import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlmodel import select

from infra.db import session
from infra.settings import Settings
from infra.tables import Submission, Upload
from submissions.format.errors import IntakeError
from submissions.tools import client
from submissions.tools.client import Server
from tests.servers.flaky import Fault, flaky
from tests.submissions.bad.case import bundle, pictures

from .conftest import ON_BOTH, Desk
from .handing_in import create, promise, send
from .served import served

LINES = 2
"""More only wait for each other at SQLite's one writer."""


def bundles(folder: Path, count: int) -> list[Path]:
    """Small bundles that differ."""
    return [bundle(folder / f"{n}.zip", pictures(1), sampling={"seed": n}) for n in range(count)]


def rows(settings: Settings) -> list[str]:
    with session(settings.database) as db:
        return list(db.exec(select(Submission.id).where(Submission.trust != "C")))


@pytest.mark.parametrize(
    ("desk", "count"), [("machine", 300), ("machine_on_postgres", 60)], indirect=["desk"]
)
def test_submissions_whose_first_replies_are_all_lost_are_as_many_rows(
    desk: Desk, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PAUSE", 0.001)
    made = bundles(tmp_path, count)

    def all_of(line: int) -> list[str]:
        """One client after the other on a line of its own, so that every first reply is lost and
        every second comes."""
        with flaky(address, itertools.cycle([Fault.LOST, Fault.NONE])) as lost:
            return [
                Server(lost, desk.token).hand_in(path).submission_id for path in made[line::LINES]
            ]

    with served(desk.settings) as address, ThreadPoolExecutor(LINES) as threads:
        ids = list(itertools.chain.from_iterable(threads.map(all_of, range(LINES))))

    assert len(set(ids)) == count and sorted(rows(desk.settings)) == sorted(ids)
    with session(desk.settings.database) as db:
        assert len(db.exec(select(Upload)).all()) == count


@ON_BOTH
def test_100_at_once_none_lost(desk: Desk, tmp_path: Path) -> None:
    made = bundles(tmp_path, 100)

    with served(desk.settings) as address, ThreadPoolExecutor(20) as threads:
        server = Server(address, desk.token)
        ids = list(threads.map(lambda path: server.hand_in(path).submission_id, made))

    assert len(set(ids)) == 100 and sorted(rows(desk.settings)) == sorted(ids)


def test_the_client_resumes_where_it_was_cut_and_tells_bytes(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from submissions.intake import uploads

    monkeypatch.setattr(uploads, "PART", 200)
    path = bundles(tmp_path, 1)[0]
    told: list[tuple[int, int]] = []
    with served(desk.settings) as address:
        server = Server(address, desk.token)
        with pytest.raises(KeyboardInterrupt):
            server.hand_in(path, lambda done, _all: _stop_after(done, 500))
        server.hand_in(path, lambda done, all_: told.append((done, all_)))

    size = path.stat().st_size
    assert told[0] == (600, size) and told[-1] == (size, size)


def _stop_after(done: int, most: int) -> None:
    if done > most:
        raise KeyboardInterrupt


def test_a_refusal_reaches_the_client_with_every_problem(desk: Desk, tmp_path: Path) -> None:
    path = bundle(
        tmp_path / "x.zip",
        pictures(2),
        lambda manifest, _: manifest["files"][0].update(sha256="0" * 64),
    )

    with served(desk.settings) as address, pytest.raises(IntakeError) as refused:
        Server(address, desk.token).hand_in(path)

    assert [problem.code for problem in refused.value.problems] == ["E_CHECKSUM"]


def test_row_8_a_connection_cut_in_the_middle_of_a_part_keeps_nothing(
    desk: Desk, tmp_path: Path
) -> None:
    path = bundles(tmp_path, 1)[0]
    upload = create(desk, promise(path)).json()["upload"]
    with served(desk.settings) as address:
        line = http.client.HTTPConnection(urlsplit(address).netloc, timeout=5)
        line.putrequest("PUT", upload["parts"][0]["path"])
        for name, value in desk.headers(**{"Content-Type": "application/octet-stream"}).items():
            line.putheader(name, value)
        line.putheader("Content-Length", str(upload["size"]))
        line.endheaders(path.read_bytes()[:100])
        line.close()

    again = desk.client.get(
        f"/v1/submissions/uploads/{upload['id']}", headers=desk.headers()
    ).json()["upload"]

    assert [part["received"] for part in again["parts"]] == [False]
    assert send(desk, again, path.read_bytes())[0].status_code == 204

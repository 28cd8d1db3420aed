"""The servers the tests rely on: that they serve, that they end, and that their absence is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from tests.servers import postgres, s3, tools
from tests.servers.postgres import PostgresServer
from tests.servers.prefect import PrefectServer
from tests.servers.process import running, wait_until
from tests.servers.s3 import S3Server
from tests.servers.unavailable import Unavailable, needs

ROOT = Path(__file__).parents[2]

START_AND_WAIT = """
import sys, time
from importlib import import_module
with import_module(f"tests.servers.{sys.argv[1]}").serve() as server:
    print(*server.pids, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that other users may enter, unlike pytest's own: PostgreSQL may run as
    one."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_every_database_is_new_and_empty(postgres_server: PostgresServer) -> None:
    first, second = (
        create_engine(postgres_server.fresh_database()),
        create_engine(postgres_server.fresh_database()),
    )

    with first.begin() as connection:
        connection.execute(text("CREATE TABLE boards (id integer)"))

    assert inspect(first).get_table_names() == ["boards"]
    assert inspect(second).get_table_names() == []
    first.dispose()
    second.dispose()


def test_prefect_runs_a_flow_that_its_server_knows(prefect_server: PrefectServer) -> None:
    script = """
from prefect import flow, get_client
from prefect.runtime import flow_run
@flow
def nightly() -> str:
    return flow_run.id
known = nightly()
with get_client(sync_client=True) as client:
    print(client.api_url, client.read_flow_run(known).state_name)
"""
    environment = os.environ | prefect_server.environment

    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == [f"{prefect_server.api_url}/", "Completed"]


@pytest.mark.parametrize("serve", [s3.serve, postgres.serve], ids=["s3", "postgres"])
def test_a_server_ends_with_its_block(
    serve: Callable[[], AbstractContextManager[S3Server | PostgresServer]],
) -> None:
    with needs(serve()) as server:
        assert alive(server.pids) == list(server.pids)

    assert alive(server.pids) == []


@pytest.mark.parametrize("name", ["s3", "postgres"])
def test_a_server_ends_when_its_tests_are_killed(name: str, open_folder: Path) -> None:
    command, environment = (
        [sys.executable, "-c", START_AND_WAIT, name],
        os.environ | {"TMPDIR": str(open_folder)},
    )
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        pids = [int(pid) for pid in tests.stdout.readline().split()]
        before = alive(pids)
        tests.kill()

    deadline = time.monotonic() + 15
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert before == pids != []
    assert alive(pids) == []


def alive(pids: Sequence[int]) -> list[int]:
    """Those that still run; a zombie that nobody has waited for does not."""
    stats = {pid: Path(f"/proc/{pid}/stat") for pid in pids}
    return [
        pid
        for pid, stat in stats.items()
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    ]


def test_a_process_that_will_not_go_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.servers.process.PATIENCE", 0.2)
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', "
        "flush=True); time.sleep(99)"
    )

    with running([sys.executable, "-c", stubborn], tmp_path / "log") as process:
        wait_until(lambda: "on" in process.tail(), [process], 10)

    assert process.process.returncode == -signal.SIGKILL


def test_a_server_that_ends_at_once_shows_what_it_said(tmp_path: Path) -> None:
    with (
        running(
            [sys.executable, "-c", "raise SystemExit('the port is taken')"], tmp_path / "swift.log"
        ) as process,
        pytest.raises(RuntimeError, match="swift ended with code 1:\nthe port is taken"),
    ):
        wait_until(lambda: False, [process], 10)


@contextmanager
def absent() -> Iterator[int]:
    raise Unavailable("no network")
    yield 0


def test_what_is_not_there_is_skipped_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match="no network"), needs(absent()):
        pass


def test_what_is_not_there_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with (
        pytest.raises(pytest.fail.Exception, match="In CI every server must be there: no network"),
        needs(absent()),
    ):
        pass


def test_swift_without_xattrs_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", refuse)

    with pytest.raises(Unavailable, match="needs user xattrs.*Set TMPDIR"), s3.serve():
        pass


def test_a_tool_that_cannot_be_installed_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "TOOLS", tmp_path / "tools")
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(
        Unavailable, match="Could not install no-such-tool==1: ERROR: No matching distribution"
    ):
        tools.installed("tool", "no-such-tool==1")


def test_of_many_who_want_a_tool_one_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def pretend(_: Sequence[str], doing: str) -> None:
        done.append(doing)
        time.sleep(0.05)
        (tmp_path / "tool").mkdir(exist_ok=True)

    monkeypatch.setattr(tools, "TOOLS", tmp_path)
    monkeypatch.setattr(tools, "_run", pretend)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(tools.installed, ["tool"] * 4, ["tool>=1,<2"] * 4))

    assert found == [tmp_path / "tool"] * 4
    assert done == ["make a virtual environment for tool", "install tool>=1,<2"]

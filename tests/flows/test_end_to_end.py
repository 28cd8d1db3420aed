"""From a bundle to a published rank, on the embedded default and on real servers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.servers.postgres import PostgresServer
from tests.servers.prefect import PrefectServer
from tests.servers.s3 import S3Server


@pytest.fixture
def embedded(tmp_path: Path) -> Machine:
    """SQLite, a folder, Prefect's ephemeral server."""
    return Machine(tmp_path / "home")


@pytest.fixture
def served(
    tmp_path: Path,
    postgres_server: PostgresServer,
    s3_server: S3Server,
    prefect_server: PrefectServer,
) -> Machine:
    """PostgreSQL, S3 over HTTP with checked signatures, a Prefect server."""
    settings = {
        "ARMILLARY_DATABASE_URL": postgres_server.fresh_database(),
        "ARMILLARY_STORE": f"s3://{s3_server.fresh_bucket()}/board",
        "ARMILLARY_S3_ENDPOINT": s3_server.endpoint,
    }
    return Machine(
        tmp_path / "home", {**settings, **s3_server.environment, **prefect_server.environment}
    )


def follow_the_path(machine: Machine, tmp_path: Path) -> None:
    """Hand in twice, evaluate twice, read the board, verify."""
    bundle = drawn_outputs(tmp_path / "bundle.zip")
    machine.run("init")

    submission = machine.submit(bundle)
    assert machine.submit(bundle) == submission
    first = machine.run("evaluate", submission)
    board = machine.run("board", "tailor", "--format", "csv")
    second = machine.run("evaluate", submission)

    assert "30 outputs made and 30 judged" in first
    assert "0 outputs made and 0 judged" in second
    assert machine.run("board", "tailor", "--format", "csv") == board
    assert "All agree with the board" in machine.run("verify", submission)
    entry = json.loads(machine.run("board", "tailor", "--format", "json"))[0]
    assert (entry["rank"], entry["trust"], entry["n_scored"], entry["n_expected"]) == (
        1,
        "B",
        30,
        30,
    )
    assert "published" in machine.run("status", submission)


@pytest.mark.xdist_group("embedded")
def test_a_bundle_reaches_the_board_on_the_embedded_default(
    embedded: Machine, tmp_path: Path
) -> None:
    follow_the_path(embedded, tmp_path)


@pytest.mark.xdist_group("servers")
def test_a_bundle_reaches_the_board_on_postgres_s3_and_a_prefect_server(
    served: Machine, tmp_path: Path
) -> None:
    follow_the_path(served, tmp_path)


@pytest.mark.xdist_group("servers")
def test_a_bundle_that_lies_in_s3_goes_through_the_same_door(
    served: Machine, s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from infra.store import open_store

    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    bucket = s3_server.fresh_bucket()
    bundle = drawn_outputs(tmp_path / "bundle.zip")
    open_store(f"s3://{bucket}", s3_server.endpoint).put_file("inbox/bundle.zip", bundle)
    served.run("init")

    said = served.run("submit", f"s3://{bucket}/inbox/bundle.zip")

    assert "Received as sub-" in said
    assert served.submit(bundle) in said
    assert "E_S3_UNREADABLE" in served.run("submit", f"s3://{bucket}/inbox/nothing.zip", status=2)


@pytest.mark.xdist_group("embedded")
def test_the_demo_publishes_a_model_and_a_bundle_and_does_nothing_the_second_time(
    embedded: Machine,
) -> None:
    first = embedded.run("demo", "--no-serve")
    board = embedded.run("board", "tailor", "--format", "csv")
    second = embedded.run("demo", "--no-serve")

    entries = json.loads(embedded.run("board", "tailor", "--format", "json"))
    assert first.count("30 outputs made, 30 judged") == 2
    assert first.count(": 4 outputs made, 4 judged") == 1
    assert "24 outputs made, 0 judged" in first, "UNIVERSE's answers are compared by rule"
    entries_made = re.findall(r" is published: \d+ outputs made, \d+ judged", first)
    assert len(entries_made) == 8, "two of TailOR, UNIVERSE's judges and its worlds, L-IVA, SC3"
    assert second.count(" is published: 0 outputs made, 0 judged") == len(entries_made)
    assert embedded.run("board", "tailor", "--format", "csv") == board
    assert "Everything is as it was published" in embedded.run("audit", "run")
    assert sorted(entry["trust"] for entry in entries if entry["rank"]) == ["A", "B"]
    assert all("random" in entry["judge"] for entry in entries if entry["rank"])


def test_a_second_demo_shows_no_traceback_and_no_library_chatter(embedded: Machine) -> None:
    said = embedded.run("init") + embedded.run_alone("evaluate", "sub-000000000000", status=2)

    assert "Traceback" not in said
    assert "There is no submission" in said

"""The database is gone: the last published board stands, from memory or from the file beside the
page."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from infra import tables
from infra.settings import Settings
from leaderboard.api.app import create
from leaderboard.cache import snapshot
from leaderboard.cache.reader import CachedReader, NoBoard, reader
from leaderboard.queries import ranking
from leaderboard.queries.ranking import BoardAddress
from tests.leaderboard.pages import models_of, opened, tables_of


@pytest.fixture(scope="module")
def written(board: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home that holds the file of the last board and nothing else."""
    settings = Settings(home=tmp_path_factory.mktemp("orphaned"))
    snapshot.write(board.database, snapshot.path(settings))
    return settings


@pytest.fixture
def orphaned(written: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A page that starts while its database is gone."""
    monkeypatch.setenv("ARMILLARY_HOME", str(written.home))
    return written


def test_a_page_that_starts_without_its_database_shows_the_last_board_and_says_from_when(
    orphaned: Settings, board: Settings
) -> None:
    page = opened("ranking", suite="tailor", scenario="*")

    assert "Aurora Video 2" in models_of(tables_of(page)[0])
    at = snapshot.taken_at(snapshot.path(orphaned))
    assert reader(orphaned).stale_since == at


def test_every_figure_of_the_file_is_the_databases(orphaned: Settings, board: Settings) -> None:
    there = reader(board).ask(ranking.ranking, "tailor", "index", BoardAddress())

    here = reader(orphaned).ask(ranking.ranking, "tailor", "index", BoardAddress())

    assert here == there


def test_nothing_private_and_no_output_is_in_the_file(orphaned: Settings) -> None:
    with snapshot.opened(snapshot.path(orphaned)) as db:
        manifests = db.exec(select(tables.Submission.manifest)).all()
        tokens, outputs = db.exec(select(tables.Token)).all(), db.exec(select(tables.Output)).all()

    assert manifests and not [one for one in manifests if "files" in one or "contact" in one]
    assert not tokens and not outputs


def test_a_page_that_needs_the_database_itself_says_so(orphaned: Settings) -> None:
    with pytest.raises(NoBoard):
        reader(orphaned).ask_now(ranking.suites)


def test_the_api_answers_from_the_file_and_names_its_time(orphaned: Settings) -> None:
    answer = TestClient(create(orphaned)).get("/v1/suites")

    assert answer.status_code == 200
    assert answer.headers["x-board-as-of"].startswith("20")


def test_a_broken_file_is_as_good_as_none(tmp_path: Path) -> None:
    file = tmp_path / "board.db"
    file.write_bytes(b"no database")

    with pytest.raises(NoBoard):
        CachedReader(f"sqlite:///{tmp_path / 'gone.db'}", file).ask(ranking.suites)


def test_writing_it_again_puts_the_new_one_in_the_old_ones_place(
    orphaned: Settings, board: Settings
) -> None:
    file = snapshot.path(orphaned)
    before = file.stat().st_ino

    snapshot.write(board.database, file)

    assert file.stat().st_ino != before
    assert [path.name for path in file.parent.iterdir()] == ["board.db"]

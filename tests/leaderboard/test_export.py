"""Files of the board: inert in a spreadsheet, whole on disk, the same twice."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from infra.db import session
from infra.settings import Settings
from leaderboard.export import cells, static_site
from leaderboard.export.text import as_csv, frame_as_csv, frame_as_json, frame_as_parquet
from leaderboard.queries import ranking
from leaderboard.queries.entries import Figure
from leaderboard.queries.ranking import BoardAddress

START = ("=", "+", "-", "@", "\t", "\r")


def test_no_cell_of_an_exported_ranking_is_a_formula(board: Settings) -> None:
    with session(board.database) as db:
        text = as_csv(ranking.ranking(db, "tailor", None, BoardAddress()))

    values = [value for row in csv.reader(io.StringIO(text)) for value in row]
    assert any("HYPERLINK" in value for value in values)
    assert not [value for value in values if value.startswith(START) and not _is_number(value)]


def test_a_table_survives_each_format_with_its_gaps() -> None:
    frame = pd.DataFrame(
        {"=name": ["=1+1", "b"], "value": [1.5, None], "rank": pd.array([1, None], "Int64")}
    )

    assert frame_as_csv(frame) == b"'=name,value,rank\n'=1+1,1.5,1\nb,,\n"
    assert json.loads(frame_as_json(frame))[1] == {"=name": "b", "value": None, "rank": None}
    assert pd.read_parquet(io.BytesIO(frame_as_parquet(frame))).shape == (2, 3)


@pytest.fixture(scope="module")
def exported(board: Settings, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The board as files, in a folder of its own."""
    return _exported(board, tmp_path_factory.mktemp("exported"))


def test_the_static_board_is_whole_and_the_same_twice(
    board: Settings, exported: list[Path], tmp_path: Path
) -> None:
    again = _exported(board, tmp_path)

    assert [path.read_bytes() for path in exported] == [path.read_bytes() for path in again]
    assert {path.relative_to(tmp_path).as_posix() for path in again} >= {
        "index.html",
        "tailor/cells.parquet",
        "sc3/cells.csv",
        "tailor/ranking.json",
    }


def test_cells_written_part_by_part_are_the_same_as_written_at_once(tmp_path: Path) -> None:
    bare, full = _figure("a", None, None), _figure("b", 0.5, 60)

    parts = cells.write(tmp_path / "parts", [[bare], [], [full, bare], [full]])
    whole = cells.write(tmp_path / "whole", [[bare, full, bare, full]])

    assert [path.read_bytes() for path in parts[:2]] == [path.read_bytes() for path in whole[:2]]
    pd.testing.assert_frame_equal(pd.read_parquet(parts[2]), pd.read_parquet(whole[2]))
    assert [row["n_scored"] for row in json.loads(parts[1].read_text())] == [None, 60, None, 60]
    assert parts[0].read_text().splitlines()[2] == "b,auto,B,index,*,*,*,*,0.5,,,,60,60,,,run,board"
    assert cells.write(tmp_path / "none", [[]]) == []


def test_the_static_page_shows_hostile_names_as_text(exported: list[Path]) -> None:
    page = next(path for path in exported if path.name == "index.html").read_text("utf-8")

    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "W" * 200 not in page


def _exported(board: Settings, folder: Path) -> list[Path]:
    with session(board.database) as db:
        return static_site.write(db, folder)


def _figure(model: str, value: float | None, n: int | None) -> Figure:
    at = ("index", "*", "*", "*", "*")
    return Figure(model, "auto", "B", *at, value, None, None, None, n, n, "", "", "run", "board")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

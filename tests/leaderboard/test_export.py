"""Files of the board: inert in a spreadsheet, whole on disk, the same twice."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd

from infra.db import session
from infra.settings import Settings
from leaderboard import queries, static_site
from leaderboard.export import as_csv, frame_as_csv, frame_as_json, frame_as_parquet
from leaderboard.queries import Address

START = ("=", "+", "-", "@", "\t", "\r")


def test_no_cell_of_an_exported_ranking_is_a_formula(board: Settings) -> None:
    with session(board.database) as db:
        text = as_csv(queries.ranking(db, "tailor", None, Address()))

    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(START) and not _is_number(cell)]


def test_a_table_survives_each_format_with_its_gaps() -> None:
    frame = pd.DataFrame({"=name": ["=1+1", "b"], "value": [1.5, None], "rank": pd.array([1, None], "Int64")})

    assert frame_as_csv(frame) == b"'=name,value,rank\n'=1+1,1.5,1\nb,,\n"
    assert json.loads(frame_as_json(frame))[1] == {"=name": "b", "value": None, "rank": None}
    assert pd.read_parquet(io.BytesIO(frame_as_parquet(frame))).shape == (2, 3)


def test_the_static_board_is_whole_and_the_same_twice(board: Settings, tmp_path: Path) -> None:
    with session(board.database) as db:
        first = static_site.write(db, tmp_path / "a")
        second = static_site.write(db, tmp_path / "b")

    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert {path.relative_to(tmp_path / "a").as_posix() for path in first} >= {
        "index.html",
        "tailor/cells.parquet",
        "sc3/cells.csv",
        "tailor/ranking.json",
    }


def test_the_static_page_shows_hostile_names_as_text(board: Settings, tmp_path: Path) -> None:
    with session(board.database) as db:
        static_site.write(db, tmp_path)

    page = (tmp_path / "index.html").read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "W" * 200 not in page


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

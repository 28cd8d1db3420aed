"""TailOR's published table has no ranks and no rank intervals, and says why."""

from __future__ import annotations

from pathlib import Path

from sqlmodel import col, select

from flows.run import catalogue
from infra.db import migrate, session
from infra.tables import Cell
from leaderboard.queries.ranking import BoardAddress, ranking


def test_tailors_published_table_shows_no_rank_intervals_and_says_why(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'test.db'}"
    migrate(url)
    with session(url) as db:
        catalogue.load(db)
        cell = db.exec(select(Cell).where(col(Cell.run_id).startswith("paper-tailor"))).first()
        assert cell is not None
        at = BoardAddress(cell.scenario, cell.task, cell.setting, cell.modality)
        found = ranking(db, "tailor", cell.metric, at)

    printed = [entry for entry in found if entry.trust == "C"]
    assert printed
    assert all(entry.rank is entry.best_rank is entry.worst_rank is None for entry in printed)
    assert all("taken from a paper" in entry.why_no_ranks for entry in printed)

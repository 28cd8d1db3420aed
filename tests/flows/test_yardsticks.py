"""Sanity rows stand beside the ranking of every board that has entries, once, and are never
ranked."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.evaluate.door import receive
from infra.db import session
from infra.settings import Settings
from leaderboard.queries.ranking import BoardAddress, ranking
from tests.bundles import drawn_outputs

ROWS = {
    "Black (picture)",
    "Uniform noise (picture)",
    "Text card with the prompt (picture)",
    "Idle scene: things by name, nothing happens (picture)",
    "Success drawn, also for the impossible (picture)",
    "Another prompt's picture",
}


@pytest.mark.xdist_group("servers")
def test_sanity_rows_stand_beside_the_ranking_and_are_made_once(
    here: Settings, tmp_path: Path
) -> None:
    from flows.evaluate.flow import run_here
    from flows.suites.yardsticks import stand

    on_an_empty_board = list(stand(here))
    run_here(
        receive(here, str(drawn_outputs(tmp_path / "bundle.zip")), None, None).submission_id, here
    )

    first, second = list(stand(here)), list(stand(here))

    with session(here.database) as db:
        entries = [one for one in ranking(db, "tailor", None, BoardAddress()) if one.trust != "C"]
    rows = {one.model: one for one in entries if one.role == "sanity"}
    assert on_an_empty_board == []
    assert set(rows) == ROWS
    assert {(one.rank, one.n_scored, one.n_expected) for one in rows.values()} == {(None, 30, 30)}
    assert all("never ranked" in one.note for one in rows.values())
    assert [(one.model, one.rank) for one in entries if one.role == "entry"] == [("Painter", 1)]
    assert len({one.board for one in entries}) == 1
    assert {one.made for one in first} == {30}
    assert [(one.made, one.judged) for one in second] == [(0, 0)] * 6

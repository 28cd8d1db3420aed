"""What stands behind a place: attempts, places that moved, private samples; and an order and
columns of one's own."""

from __future__ import annotations

from dataclasses import replace

from sqlmodel import Session

from infra.db import put
from infra.settings import Settings
from infra.tables import now
from infra.tables.standing import Hidden, RankChange
from leaderboard.draw import frames
from leaderboard.queries import entries, nights, ranking, samples, trust
from leaderboard.queries.ranking import BoardAddress
from leaderboard.selection import choice
from tests.leaderboard.pages import models_of, opened, tables_of

EVERYWHERE = {"scenario": "*", "task": "*", "setting": "*", "modality": "*"}


def test_an_entry_tells_its_teams_attempts(written: Session) -> None:
    run = samples.run_facts(written, "run-aurora-auto")
    assert run

    found = trust.attempts(written, run.board, run.team)

    assert [one.attempt for one in found] == [1, 2]
    assert found[0].moved and found[0].stands and "first of this model" in found[0].text


def test_places_that_moved_come_with_the_reason_the_largest_move_first(written: Session) -> None:
    row = {
        "board": "new",
        "board_before": "old",
        "modality": "*",
        "suite": "tailor",
        "run_before": "",
        "at": now(),
    }
    moves = {"sub-aurora": (1, 2, "another judge"), "sub-basalt": (5, 1, "another scorer")}
    for entry, (before, rank, reason) in moves.items():
        place = {
            "rank_before": before,
            "rank": rank,
            "reason": reason,
            "value_before": None,
            "value": None,
        }
        put(
            written,
            RankChange,
            [{**row, **place, "submission_id": entry, "metric": "index", "run_id": entry}],
        )

    found = trust.new_places(written, "new")

    assert [(one.model, one.reason) for one in found] == [
        ("Basalt-XL", "another scorer"),
        ("Aurora Video 2", "another judge"),
    ]
    assert [one.model for one in trust.new_places(written, "new", "sub-aurora")] == [
        "Aurora Video 2"
    ]


def test_private_samples_are_told_as_aggregates_with_their_gap(written: Session) -> None:
    figures = {"value": 50.0, "low": 45.0, "high": 55.0, "n_scored": 80, "n_expected": 80}
    gap = {
        "gap": 11.6,
        "gap_low": 4.0,
        "gap_high": 19.0,
        "gap_error": 3.9,
        "marked": True,
        "text": "better in public",
    }
    where = {"run_id": "run-aurora-auto", "metric": "index", "bank_sha256": "0" * 64, **EVERYWHERE}
    put(written, Hidden, [{**where, **figures, **gap}])

    (found,) = trust.private_figures(written, "run-aurora-auto")

    assert (found.gap, found.marked, found.n_scored) == (11.6, True, 80)
    assert not hasattr(found, "sample_id")


def test_bounds_of_what_is_unknown_stand_in_the_row(written: Session) -> None:
    metric = ranking.metric_named(written, "tailor", "index")
    rows = ranking.ranking(written, "tailor", "index", BoardAddress())
    unsure = replace(rows[0], if_worst=41.0, if_best=77.25)

    frame = frames.standings([unsure, *rows[1:]], metric, BoardAddress())

    assert frame["Bounds"][0] == "41.0–77.2"


def test_the_order_and_the_columns_are_in_the_address(at_board: Settings) -> None:
    page = opened("ranking", suite="tailor", scenario="*", sort="name", hidden="n/N,Date")

    assert not page.exception
    table = tables_of(page)[0]
    ranked = models_of([row for row in table if row["Rank"] != "–"])
    assert len(ranked) > 3 and ranked == sorted(ranked, key=str.casefold)
    assert "n/N" not in table[0] and "Date" not in table[0] and "Trust" in table[0]
    assert (page.query_params["sort"], page.query_params["hidden"]) == ("name", "n/N,Date")


def test_worst_first_leaves_what_has_no_value_last(written: Session) -> None:
    rows = ranking.ranking(written, "tailor", "index", BoardAddress())
    empty = replace(rows[0], value=None, model="nothing")

    found = choice.in_order([*rows[:3], empty], "worst")

    assert [one.model for one in found] == [rows[2].model, rows[1].model, rows[0].model, "nothing"]


def test_only_what_charts_draw_is_read_for_them(written: Session) -> None:
    runs = ("run-aurora-auto", "run-basalt-auto")

    found = entries.chart_figures(written, "tailor", (("task", "*"),), runs)

    assert {one.task for one in found} == {"*"}
    assert {one.run_id for one in found if one.trust != "C"} == set(runs)
    assert any(one.trust == "C" for one in found)


def test_our_own_faults_are_incidents(written: Session) -> None:
    found = nights.incidents(written)

    assert [one.what for one in found] == ["night"] * len(found) or "entry failed" in [
        one.what for one in found
    ]

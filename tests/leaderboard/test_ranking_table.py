"""The ranking as a table: columns, groups, what is best, and the strip over it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sqlmodel import Session

from infra.db import session
from infra.settings import Settings
from infra.tables import Event, Metric
from leaderboard.draw.frames import points
from leaderboard.draw.ranking_table import RankingColumns, RankingRows, ranking_table
from leaderboard.draw.timeline import best_so_far, dated, timeline
from leaderboard.draw.trust_strip import label, strip
from leaderboard.queries import ranking
from leaderboard.queries.entries import figures_along
from leaderboard.queries.glance.headlines import (
    HeadlineFigure,
    headline_figures,
    headline_metrics,
    row_pictures,
)
from leaderboard.queries.glance.strip import TrustStrip, last_audit, shown_board, trust_strip
from leaderboard.queries.ranking import BoardAddress, RankedEntry
from leaderboard.selection.choice import fullest
from leaderboard.selection.settle import best_runs
from leaderboard.views.gaps import best_lines, one_board_a_kind, one_judge
from leaderboard.widgets.citation import board_citation, entry_citation
from tests.leaderboard.pages import models_of, opened, tables_of


@pytest.fixture
def entries(board: Settings) -> list[RankedEntry]:
    with session(board.database) as db:
        rows = ranking.ranking(db, "tailor", "index", BoardAddress())
        return [row for row in rows if row.board == fullest(rows)]


@pytest.fixture
def metrics(board: Settings) -> list[Metric]:
    with session(board.database) as db:
        return headline_metrics(ranking.metrics(db, "tailor"), "index")


def figures(
    entries: list[RankedEntry], metrics: list[Metric]
) -> dict[tuple[str, str], HeadlineFigure]:
    return {
        (entry.run_id, metric.name): HeadlineFigure(10.0 - number, 9.0 - number, 11.0 - number)
        for number, entry in enumerate(entries)
        for metric in metrics
    }


def drawn(entries: list[RankedEntry], metrics: list[Metric]) -> str:
    rows = RankingRows(entries, figures(entries, metrics))
    return ranking_table(RankingColumns(metrics, "index"), rows, lambda _: "ranking?x=1", "About.")


def test_every_headline_metric_is_a_column_and_the_index_too(at_board: Settings) -> None:
    row = tables_of(opened("ranking", suite="tailor", scenario="*"))[0][0]

    for title in (
        "Instruction adherence",
        "Interaction accuracy",
        "Physical realism",
        "Perceptual quality",
        "Index",
    ):
        (text,) = (text for head, text in row.items() if head.startswith(title))
        value, interval = text.split("|")
        low, high = interval.split("–")
        assert float(low) <= float(value) <= float(high)


def test_without_a_choice_entries_are_ranked_by_the_index(at_board: Settings) -> None:
    page = opened("ranking", suite="tailor")

    assert page.query_params["metric"] == "index"


def test_the_figures_of_a_column_are_those_of_its_own_ranking(written: Session) -> None:
    rows = ranking.ranking(written, "tailor", "physical_realism", BoardAddress())
    ours = [row for row in rows if row.trust != "C"]

    read = headline_figures(
        written, tuple(row.run_id for row in ours), ("physical_realism",), BoardAddress()
    )

    assert len(read) > 3
    for row in ours:
        figure = read[row.run_id, "physical_realism"]
        assert (figure.value, figure.low, figure.high) == (row.value, row.low, row.high)


def test_only_the_best_of_the_ranked_is_bold(
    entries: list[RankedEntry], metrics: list[Metric]
) -> None:
    ranked = [entry for entry in entries if entry.rank is not None]
    table = drawn(ranked, metrics)

    assert table.count("<b>10.0</b>") + table.count("<b>10.00</b>") == len(metrics)
    assert "<b>9.0" not in table


def test_a_board_without_ranks_has_no_best_and_no_tint(
    entries: list[RankedEntry], metrics: list[Metric]
) -> None:
    withheld = [replace(entry, rank=None) for entry in entries]

    table = drawn(withheld, metrics)

    assert "--t:" not in table and "<b>" not in table
    assert "Shown without a rank" in table


def test_sanity_rows_and_ceilings_stand_in_a_group_under_the_ranks(
    entries: list[RankedEntry], metrics: list[Metric]
) -> None:
    black = replace(entries[0], role="sanity", model="Black", rank=None)
    ceiling = replace(entries[0], role="ceiling", model="Simulator", rank=None)

    table = drawn([black, ceiling, *entries], metrics)

    group = table.index("To measure by")
    assert table.index(entries[-1].model.split("<")[0][:3]) < group
    assert group < table.index("Black") < table.index("Simulator")
    assert "Sanity row" in table and "Ceiling" in table


def test_the_strip_says_judge_samples_completeness_audit_and_night(
    written: Session, entries: list[RankedEntry]
) -> None:
    facts = trust_strip(written, shown_board("tailor", entries))

    text = strip(facts)

    assert facts.is_part and "demo subset, 60 of 1,600" in text
    assert "Dice judge, passed its exam" in text and "2026-11-14, done" in text
    assert "none yet" in text
    assert label(facts) == "demo subset"


def test_a_blind_judge_is_said_once_with_its_reasons_folded() -> None:
    facts = TrustStrip(
        "J", "blind", False, ("kappa is low",), "demo", 60, 1600, 60, 60, None, "", None, ""
    )

    text = strip(facts, ["The sanity row 'Black' ties or beats A."])

    assert text.count('role="alert"') == 1
    assert text.index("<details>") < text.index("kappa is low") < text.index("ties or beats")
    assert "ARMILLARY_JUDGE" in text
    assert "not ranked" in label(facts)


def test_the_last_audit_is_read_from_the_events(written: Session) -> None:
    for text in ("2 findings", "clean"):
        written.add(Event(subject="audit", actor="operator", kind="audited", text=text))
    written.flush()

    audited = last_audit(written)

    assert audited is not None and audited.text == "clean"


def test_each_row_has_a_picture_of_its_own_entry(written: Session) -> None:
    pictures = row_pictures(written, ("sub-aurora", "sub-basalt", "sub-open0"))

    assert set(pictures) == {"sub-aurora", "sub-basalt"}
    assert pictures["sub-aurora"].media_sha256 != pictures["sub-basalt"].media_sha256


def test_pages_open_on_the_best_ranked(written: Session, at_board: Settings) -> None:
    runs = best_runs(written)
    compared = opened("compare").multiselect[0].value

    assert runs[0] == "run-aurora-auto"
    assert list(compared) == runs[:2]


def test_the_line_of_the_best_only_rises(entries: list[RankedEntry]) -> None:
    scores = dated(entries)

    records = [record.value for record in best_so_far(scores, best_is_high=True)]
    falling = [record.value for record in best_so_far(scores, best_is_high=False)]

    assert len(scores) > 3
    assert records == sorted(records) and falling == sorted(falling, reverse=True)
    assert timeline(scores, "Index", True, 1).count("<circle") == len(scores)


def test_a_hundred_rows_are_shown_and_the_rest_on_demand(
    entries: list[RankedEntry], at_board: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.views.ranking.MOST_ROWS", 3)
    few = opened("ranking", suite="tailor", scenario="*")
    whole = opened("ranking", suite="tailor", scenario="*", rows="all")

    assert len(models_of(tables_of(few)[0])) == 3
    assert len(models_of(tables_of(whole)[0])) == len(entries)
    assert any("Show all" in html.proto.body for html in few.get("html"))


def test_a_citation_names_author_address_and_what_was_handed_in(
    written: Session, board: Settings
) -> None:
    from leaderboard.queries.entries import submission
    from leaderboard.selection.choice import Choice

    entry = submission(written, "sub-aurora")
    suite = ranking.suites(written)[0]
    assert entry is not None

    text = entry_citation(entry, "https://board.example")
    whole = board_citation(suite, Choice(suite="tailor", board="b1"), "https://board.example")

    assert "author = {{Northlight Lab}}" in text
    assert "https://board.example/model?id=sub-aurora" in text
    assert entry.bundle_sha256[:16] in text
    assert "board b1" in whole and "https://board.example/ranking?suite=tailor" in whole


def test_one_axis_has_one_judge_and_no_sanity_row(written: Session) -> None:
    listed = ranking.ranking(written, "tailor", "index", BoardAddress())
    spoiled = [
        replace(entry, role="sanity") if entry.run_id == "run-basalt-auto" else entry
        for entry in listed
    ]
    figures = figures_along(written, "tailor", "index", "scenario", BoardAddress())

    drawn = one_judge(figures, spoiled, "all")

    ours = [figure for figure in drawn.figures if figure.trust != "C"]
    assert len({figure.board for figure in ours}) == 1
    assert "run-basalt-auto" not in {figure.run_id for figure in ours}
    assert "run-aurora-auto" in {figure.run_id for figure in ours}
    assert "judged by Dice judge" in drawn.about and "1 other boards" in drawn.about


def test_a_suites_charts_have_one_judge_and_one_board_of_people_and_no_sanity_row(
    written: Session,
) -> None:
    listed = ranking.ranking(written, "tailor", None, BoardAddress())
    (judged,) = [entry for entry in listed if entry.run_id == "run-aurora-auto"]
    second = replace(judged, board="b2", judge="Second judge", run_id="run-second")
    sanity = replace(judged, role="sanity", run_id="run-sanity")

    charted = one_board_a_kind([second, sanity, *listed])

    kinds = {(entry.evaluator, entry.board) for entry in charted.entries}
    assert sorted(kind for kind, _ in kinds) == ["auto", "human"]
    assert not {"run-second", "run-sanity"} & {entry.run_id for entry in charted.entries}
    assert not [entry for entry in charted.entries if entry.trust == "C"]
    assert "judged by Dice judge" in charted.about and "judged by Three people" in charted.about
    assert "1 other boards are not drawn" in charted.about


def test_gaps_says_how_far_to_trust_the_board_that_it_draws(at_board: Settings) -> None:
    page = opened("gaps", suite="tailor")

    (strip,) = [html.proto.body for html in page.get("html") if "arm-strip" in html.proto.body]
    assert "Dice judge" in strip and "demo subset" in strip


def test_what_is_there_to_measure_by_says_so_on_the_rankings_chart(written: Session) -> None:
    (first, *entries) = ranking.ranking(written, "tailor", "index", BoardAddress())
    second = next(entry for entry in entries if entry.model != first.model)

    drawn = points([first, replace(second, role="sanity")], True)

    says_so = dict(zip(drawn["model"], drawn["label"].str.startswith("Sanity row: "), strict=True))
    assert says_so == {first.model: False, second.model: True}


def test_of_many_entries_the_best_are_drawn_and_the_chart_says_so(written: Session) -> None:
    (first, *_) = ranking.ranking(written, "tailor", "index", BoardAddress())
    crowd = [replace(first, run_id=f"run-{number:02d}") for number in range(40)]
    (figure, *_) = figures_along(written, "tailor", "index", "scenario", BoardAddress())
    figures = [replace(figure, run_id=entry.run_id) for entry in crowd]

    drawn = one_judge(figures, crowd, "all")

    assert [figure.run_id for figure in best_lines(drawn)] == [f"run-{n:02d}" for n in range(12)]
    assert len(drawn.figures) == 40
    assert "The 12 best of 40 entries are drawn" in drawn.about


def test_what_the_door_remarked_stands_beside_the_entry(at_board: Settings) -> None:
    from infra.store import open_store, report_key

    warning = {"code": "W_REPEATED_OUTPUT", "message": "12 outputs repeat another's bytes."}
    report = {"media": {}, "warnings": [warning]}
    open_store(at_board.objects).put(report_key("sub-basalt"), json.dumps(report).encode())

    page = opened("model", id="sub-basalt")

    assert not page.exception
    assert any("12 outputs repeat" in caption.value for caption in page.caption)

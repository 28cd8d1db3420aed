"""TailOR's charts: the printed table gives the printed findings, and our own board gives the other
figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import pytest

from evaluators.suites.tailor.bank import public
from evaluators.suites.tailor.published import published
from leaderboard.draw.suite_charts import charts_of, table
from leaderboard.draw.suite_charts import tailor_tables as tables
from leaderboard.queries.entries import Figure


def figure(**given: Any) -> Figure:
    """A figure of ours unless it says otherwise."""
    silent = dict.fromkeys(Figure.__dataclass_fields__)
    usual = {
        "evaluator": "auto",
        "trust": "A",
        "task": "*",
        "source": "",
        "note": "",
        "run_id": "r",
        "board": "b",
    }
    return Figure(**{**silent, **usual, **given})


PAPER = table(
    [
        figure(
            trust="C",
            model=p.model,
            evaluator=p.evaluator,
            metric=p.metric,
            value=p.value,
            **asdict(p.facets),
        )
        for p in published()
    ]
)


def own(metric: str, value: float = 50.0, **given: Any) -> list[Figure]:
    """One metric of one model of ours in every cell."""
    return [
        figure(
            model="Owl",
            metric=metric,
            value=value,
            scenario=scenario,
            setting=setting,
            modality=modality,
            **given,
        )
        for scenario in tables.SCENARIOS
        for setting in ("predictive", "descriptive")
        for modality in ("image", "video")
    ]


def drawn(name: str, figures: pd.DataFrame) -> dict[str, Any]:
    """A chart of the suite as its specification, checked against the schema by altair."""
    chart = next(one for one in charts_of("tailor") if one.name == name).draw(figures)
    assert chart is not None
    return dict(chart.to_dict())


def test_the_grid_of_table_2_has_every_cell_and_the_leaders_of_the_paper() -> None:
    rows = tables.grid(PAPER)

    image = rows[(rows["modality"] == "image") & (rows["model"] == "Nano-Banana-2")]
    video = rows[(rows["modality"] == "video") & (rows["model"] == "Sora-2")]
    assert len(rows) == 8 * 3 * 4 * 2
    assert int(image["best_auto"].sum() + image["best_human"].sum()) == 44
    assert int(video["best_auto"].sum() + video["best_human"].sum()) == 42
    assert set(rows["shown"].str.count("/")) == {1}
    assert len(drawn("grid-paper", PAPER)["vconcat"]) == 4


def test_values_in_the_grid_round_half_up() -> None:
    rows = tables.grid(
        table([*own("instruction_adherence", 62.5), *own("physical_realism", 2.4499999999999997)])
    )

    assert set(rows["shown"]) == {"63% / —", "2.5 / —"}


def test_the_lines_of_table_2_fall_in_119_of_128_rows() -> None:
    rows = tables.lines(PAPER)
    keys = ["model", "evaluator", "setting", "modality", "metric"]

    wide = rows.pivot_table(index=keys, columns="scenario", values="value")

    falls = (wide["regular"] >= wide["unconventional"]) & (
        wide["unconventional"] >= wide["impossible"]
    )
    assert (int(falls.sum()), len(wide)) == (119, 128)
    assert drawn("degradation-paper", PAPER)["facet"]["field"] == "title"


def test_the_settings_chart_has_a_point_a_model_scenario_and_evaluator() -> None:
    rows = tables.settings_against(PAPER)

    assert len(rows) == 8 * 3 * 2
    assert rows[["predictive", "descriptive"]].stack().between(0, 100).all()
    assert drawn("settings-paper", PAPER)["facet"]["field"] == "scenario"


def test_judge_and_people_correlate_as_printed() -> None:
    titles = [panel["title"] for panel in drawn("agreement-paper", PAPER)["hconcat"]]

    correlations = [title.split(" = ")[1].split(",")[0] for title in titles]
    assert correlations == ["0.966", "0.955", "0.934", "0.906"]
    assert [title.rpartition(" ")[2] for title in titles] == ["+8.9", "+8.4", "+0.5", "+0.5"]


def test_our_own_board_gives_parts_and_failures() -> None:
    figures = table([
        *(one for part in (*tables.PARTS, *tables.SHARED) for one in own(part)),
        *own("failure.incorrect_outcome", 75.0, n_scored=3, n_expected=4),
        *own("failure.physical_violation", 25.0, n_scored=1, n_expected=4),
    ])  # fmt: skip

    assert len(tables.parts(figures)) == 6 * 2 * 2
    assert tables.modes(figures).groupby("mode")["n_scored"].sum().to_dict() == {
        "Incorrect outcome": 36,
        "Physical violation": 12,
    }
    assert drawn("parts", figures)["facet"]["field"] == "modality"
    assert set(drawn("failures", figures)["facet"]) == {"row", "column"}
    assert drawn("failures", figures)["facet"]["column"]["field"] == "scenario"


def test_failures_by_setting_stand_in_a_column_a_setting() -> None:
    figures = table(
        own("failure.incorrect_outcome", 75.0, n_scored=3, n_expected=4)
        + [
            one
            for one in own("failure.physical_violation", 25.0, n_scored=1, n_expected=4)
            if one.setting == "descriptive"
        ]
    )

    chart = drawn("failures-setting", figures)

    column = chart["facet"]["column"]
    assert (column["field"], column["sort"]) == ("setting", ["predictive", "descriptive"])
    (marks,) = chart["datasets"].values()
    modes = {(mark["setting"], mark["mode"]) for mark in marks}
    assert modes == {
        ("predictive", "Incorrect outcome"),
        ("descriptive", "Incorrect outcome"),
        ("descriptive", "Physical violation"),
    }


def test_figures_of_two_boards_are_never_drawn_together() -> None:
    small = own("instruction_adherence", board="small", run_id="1")
    large = [
        one for run in ("2", "3") for one in own("instruction_adherence", board="large", run_id=run)
    ]

    assert set(tables.ours(table([*small, *large]))["board"]) == {"large"}


def test_the_bank_chart_counts_the_bank_that_is_there() -> None:
    counted = Counter(
        (task["action_name"], task["place"], task["environment"]) for task in public().tasks
    )

    found = {
        (row.action, row.place, row.environment): row.tasks for row in tables.items().itertuples()
    }

    assert found == counted
    assert drawn("bank", PAPER)["mark"]["type"] == "bar"


@pytest.mark.parametrize("chart", charts_of("tailor"), ids=lambda chart: chart.name)
def test_an_empty_board_draws_nothing_and_raises_nothing(chart: Any) -> None:
    assert (chart.draw(table([])) is None) is (chart.name != "bank")


@pytest.mark.parametrize("figures", [PAPER, table([])], ids=["only the paper", "nothing"])
def test_before_the_first_entry_charts_of_our_own_board_are_left_out(figures: pd.DataFrame) -> None:
    drawn_charts = {one.name: one.draw(figures) for one in charts_of("tailor")}

    ours = {"grid", "degradation", "settings", "parts", "failures", "agreement"}
    assert {name for name in ours if drawn_charts[name] is not None} == set()
    assert drawn_charts["bank"] is not None


def test_people_of_a_study_stand_beside_the_judge_of_the_fullest_board() -> None:
    judged = own("physical_realism", 2.0)
    people = [
        *own("physical_realism", 3.0, evaluator="human", board="study", run_id="h"),
        *[replace(one, model="Stranger", run_id="s") for one in own("physical_realism", 4.0)],
    ]
    strangers = [replace(one, evaluator="human", board="other") for one in people[-12:]]

    figures = tables.ours(table([*judged, *people[:-12], *strangers]))
    grid = tables.grid(figures)

    assert set(grid["model"]) == {"Owl"}
    assert set(grid["shown"]) == {"2.0 / 3.0"}
    assert len(tables.judge_and_people(figures)) == len(judged)


def test_settings_are_compared_by_the_questions_that_both_ask_where_there_are_such_figures() -> (
    None
):
    figures = table([*own("shared_index", 60.0), *(o for m in tables.METRICS for o in own(m, 1.0))])

    against = tables.settings_against(figures)

    assert set(against["predictive"]) == set(against["descriptive"]) == {60.0}


def test_parts_of_two_settings_are_compared_without_details_that_only_one_is_asked() -> None:
    whole = [*own("attribute_fidelity", 90.0), *own("scene_validity", 70.0)]
    shared = own("shared_attribute_fidelity", 80.0)

    new, old = tables.parts(table([*whole, *shared])), tables.parts(table(whole))

    assert dict(zip(new["metric"], new["value"], strict=True)) == {
        "attribute_fidelity": 80.0,
        "scene_validity": 70.0,
    }
    assert set(old["metric"]) == {"scene_validity"}, "no bar rather than one with details"

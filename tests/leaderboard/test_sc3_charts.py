"""SC3's charts, from the published tables and from cells of ours."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluators.suites.sc3 import published
from leaderboard.draw.rollouts import enlarged
from leaderboard.draw.suite_charts import COLUMNS, charts_of
from leaderboard.draw.suite_charts.sc3 import ablation_table, correlations, fullest_runs, swept
from leaderboard.draw.suite_charts.sc3_variants import family
from leaderboard.panels.sc3 import trace


def printed() -> pd.DataFrame:
    rows = [
        {
            **{name: None for name in COLUMNS},
            **asdict(one.facets),
            "model": one.model,
            "metric": one.metric,
        }
        | {"value": one.value, "note": one.note, "source": one.source}
        | {"evaluator": one.evaluator, "trust": "C", "run_id": f"paper {one.model} {one.evaluator}"}
        for one in published.published()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_the_published_tables_draw_every_chart_they_have_numbers_for() -> None:
    drawn = {chart.name for chart in charts_of("sc3") if chart.draw(printed()) is not None}

    assert drawn == {"sc3-correlations", "sc3-reproduction", "sc3-tau", "sc3-psnr", "sc3-ablations"}


@pytest.mark.parametrize(
    ("what", "split", "values"),
    [
        ("Pearson r", "in distribution", [0.956, 0.974, 0.984, 0.941]),
        ("Pearson r", "out of distribution", [0.853, 0.881, 0.870, 0.902]),
        ("MMRV", "in distribution", [0.093, 0.027, 0.022, 0.101]),
        ("MMRV", "out of distribution", [0.197, 0.170, 0.171, 0.159]),
        ("stopped", "both splits", [0, 0.0221, 0.0488, 0.1022]),
    ],
)
def test_the_papers_sweep_has_all_four_thresholds_on_every_line(
    what: str, split: str, values: list[float]
) -> None:
    points = swept(printed())
    line = points[(points["what"] == what) & (points["split"] == split)].set_index("tau")["value"]

    assert line.to_dict() == dict(zip(["inf", "0.05", "0.02", "0.01"], values, strict=True))
    assert len(points) == 5 * 4


PLACE = {"scenario": "in_distribution", "task": "pooled", "setting": "online", "modality": "video"}


def ours(model: str, metric: str, value: float, run: str = "", **where: Any) -> dict[str, Any]:
    """A cell of an entry."""
    whose = {
        "model": model,
        "run_id": run or model,
        "evaluator": "auto",
        "trust": "B",
        "n_expected": 42,
    }
    return {
        **{name: None for name in COLUMNS},
        **PLACE,
        **whose,
        "metric": metric,
        "value": value,
        **where,
    }


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_each_panel_of_the_scatter_is_titled_with_r_and_mmrv_of_its_evaluators() -> None:
    point = "policy_1 object_lifting"
    rows = [
        cell
        for model, r in (("Good", 0.93), ("Bad", -0.2))
        for cell in (
            ours(model, "predicted_rate", 0.4, task=point),
            ours(model, "real_rate", 0.5, task=point),
            ours(model, "pearson_r", r),
            ours(model, "mmrv", 0.119),
        )
    ]

    [panel] = charts_of("sc3")[0].draw(table(*rows)).to_dict()["concat"]  # type: ignore[union-attr]

    assert panel["title"]["text"] == "In distribution, online"
    assert panel["title"]["subtitle"] == ["Good: r 0.930, MMRV 0.119", "Bad: r -0.200, MMRV 0.119"]


def test_nothing_draws_nothing() -> None:
    assert all(chart.draw(table()) is None for chart in charts_of("sc3"))


def test_the_page_says_why_methods_of_the_paper_have_no_points_and_no_r_within() -> None:
    said = {chart.name: chart.reads for chart in charts_of("sc3")}

    assert "neither an r within criterion nor points to scatter" in said["sc3-correlations"]
    assert "python -m tests.bench.sc3" in said["sc3-tau"]


def test_a_better_mmrv_and_a_better_r_are_both_darker() -> None:
    made = ablation_table(printed())
    shade = {(row.model, row.metric): row.shade for row in made.itertuples()}

    assert shade["SC3-Eval", "pearson_r"] == shade["SC3-Eval", "mmrv"] == 1
    assert shade["SC3-Eval without cross-view inpainting", "mmrv"] == 0
    assert made["model"].iloc[0] == "SC3-Eval" and len(made) == 10


@pytest.mark.parametrize("whole", ["Small world", "Small world, full", "Small world (full model)"])
def test_the_experiments_variants_stand_under_the_model_they_are_of(whole: str) -> None:
    parts = ("forward only", "without inverse", "without cross-view", "without decoupled horizon")
    names = [
        whole,
        *(f"Small world {part}" for part in parts),
        "Small dynamo",
        "Forward onlyness",
    ]
    rows = [ours(model, "mmrv", 0.1 * number, scenario="*") for number, model in enumerate(names)]

    made = ablation_table(table(*rows))

    assert made["model"].iloc[0] == whole
    assert set(made["model"]) == {whole, *(f"Small world {part}" for part in parts)}


def test_variants_that_go_by_their_bare_names_are_a_family_too() -> None:
    bare = (
        "full",
        "without inverse",
        "without cross-view",
        "without decoupled horizon",
        "forward only",
    )

    assert {family(model)[0] for model in bare} == {""}
    assert [family(model)[1] for model in bare] == ["", *bare[1:]]


def test_a_model_on_two_boards_is_drawn_once_and_beside_what_people_and_the_paper_say_of_it() -> (
    None
):
    small, large = (
        ours("M", "psnr", 20.0, run="demo"),
        ours("M", "psnr", 21.0, run="full", n_expected=504),
    )
    people = ours("M", "psnr", 21.0, run="study", evaluator="human")
    paper = ours("M", "psnr", 30.0, run="paper", trust="C", n_expected=None)

    drawn = fullest_runs(table(large, small, people, paper))

    assert dict(zip(drawn["run_id"], drawn["model"], strict=True)) == {
        "full": "M", "study": "M (people)", "paper": "M (paper)"
    }  # fmt: skip


def test_a_method_that_a_paper_prints_says_so_on_an_axis_that_it_shares_with_ours() -> None:
    mine = ours("M", "pearson_r", 0.6, task="pooled", run="mine")
    printed = ours("N", "pearson_r", 0.9, task="pooled", run="paper", trust="C")

    chart = correlations(table(mine, printed))

    assert chart is not None
    assert "N (paper)" in str(chart.to_dict()) and "M (paper)" not in str(chart.to_dict())


def test_a_stopped_rollout_is_marked_and_small_pictures_keep_their_pixels() -> None:
    chart = trace(
        {"u_chunk": [0.1, 0.9], "terminated_at": 1, "action_space": "normalised"}
    ).to_dict()

    assert "stopped here" in str(chart)
    assert enlarged(np.zeros((24, 24, 3), np.uint8)).shape == (168, 168, 3)

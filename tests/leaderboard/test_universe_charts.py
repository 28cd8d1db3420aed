"""UNIVERSE's charts draw what the paper prints and what we measured, and its panel tells question,
answer and truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluators.suites.universe.published import published
from leaderboard.draw.suite_charts import COLUMNS, SuiteChart
from leaderboard.draw.suite_charts.universe import CHARTS, _by_judge, _cells, _runs
from leaderboard.panels import SampleView
from leaderboard.panels.universe import rows


def figures(extra: tuple[dict[str, Any], ...] = ()) -> pd.DataFrame:
    """The paper's rows as the page hands them over, and some of our own."""
    rows = [
        {
            "model": one.model,
            "evaluator": one.evaluator,
            "trust": "C",
            "metric": one.metric,
            "value": one.value,
            "spread": one.spread,
            "scenario": one.facets.scenario,
            "task": one.facets.task,
            "setting": one.facets.setting,
            "modality": one.facets.modality,
            "source": one.source,
        }
        for one in published()
    ]
    return pd.DataFrame([*rows, *extra], columns=list(COLUMNS))


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_chart_draws_the_published_tables_and_nothing_from_nothing(chart: SuiteChart) -> None:
    made = chart.draw(figures())

    assert made is not None
    assert made.to_dict()["datasets"]
    assert chart.draw(figures().iloc[:0]) is None


def test_frames_epochs_and_the_rule_are_read_from_the_names_of_runs() -> None:
    found = _runs(figures())

    assert set(found["n"]) == {1, 2, 4, 8} or {1, 8} <= set(found["n"])
    assert {"first", "uniform"} == set(found["policy"])
    assert found["epochs"].min() < 1 <= found["epochs"].max()


def test_seeds_of_a_judge_are_one_bar_with_their_spread() -> None:
    ours = {
        "trust": "A",
        "metric": "em_normalised",
        "scenario": "environment_1",
        "task": "action_recognition",
        "setting": "binary",
        "modality": "text",
        "evaluator": "auto",
    }
    three = tuple(
        {**ours, "model": f"Owl, seed {n}", "value": value}
        for n, value in enumerate((50.0, 60.0, 70.0))
    )

    found = _by_judge(_cells(figures(three))).query("judge == 'Owl'").iloc[0]

    assert (found["value"], found["low"], found["high"]) == (60, 50, 70)


def test_the_panel_tells_answer_and_truth_and_leaves_out_what_is_not_known() -> None:
    def shown(record: dict[str, Any], detail: dict[str, Any]) -> SampleView:
        return SampleView(None, None, record, detail, lambda _sha: Path("none"))  # type: ignore[arg-type]

    said = {"em_normalised": {"said": "yes", "truth": "no"}}

    assert rows(shown({"frames_rule": "uniform-8"}, said)) == [
        ("The judge said", "yes"), ("The truth", "no"), ("Frames it saw", "uniform-8"),
    ]  # fmt: skip
    assert rows(shown({}, {})) == []

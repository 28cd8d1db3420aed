"""UNIVERSE's charts draw what the paper prints and what we measured, and its panel tells question,
answer and truth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluators.suites.universe.published import published
from leaderboard.draw.suite_charts import COLUMNS, SuiteChart
from leaderboard.draw.suite_charts.universe import CHARTS
from leaderboard.draw.suite_charts.universe_tables import (
    by_recipe,
    exact_match,
    fullest_board,
    printed_runs,
    whole_judges,
    with_share,
)
from leaderboard.panels import SampleView
from leaderboard.panels.universe import rows

OURS: dict[str, Any] = {
    "trust": "A",
    "metric": "em_normalised",
    "scenario": "environment_1",
    "task": "action_recognition",
    "setting": "binary",
    "modality": "text",
    "evaluator": "auto",
    "board": "ours",
    "n_expected": 64,
}


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
    return pd.DataFrame([*rows, *extra], columns=[*COLUMNS, "recipe"])


def of_a_judge(model: str, **facts: Any) -> tuple[dict[str, Any], ...]:
    """A judge of ours with every task and format."""
    return tuple(
        {**OURS, "model": model, "run_id": model, "value": 50.0, **at, **facts}
        for at in (
            {"task": task, "setting": setting}
            for task in ("action_recognition", "character_recognition")
            for setting in ("binary", "multiple_choice", "open_ended")
        )
    )


def drawn_judges(chart: SuiteChart, table: pd.DataFrame) -> set[str]:
    """The names of the bars of a chart."""
    made = chart.draw(table)
    assert made is not None
    return {row["judge"] for rows in made.to_dict()["datasets"].values() for row in rows}


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_chart_draws_what_it_is_for_and_nothing_from_nothing(chart: SuiteChart) -> None:
    made = chart.draw(figures(of_a_judge("Owl")))

    assert made is not None
    assert made.to_dict()["datasets"]
    assert chart.draw(figures().iloc[:0]) is None


def test_the_paper_and_our_judges_never_stand_in_one_chart() -> None:
    ours, paper = CHARTS[0], CHARTS[1]
    table = figures(of_a_judge("Owl"))

    assert drawn_judges(ours, table) == {"Owl"}
    assert "Owl" not in drawn_judges(paper, table)
    assert ours.draw(figures()) is None
    assert "Other data" in paper.reads


def test_judges_of_two_boards_never_stand_in_one_chart() -> None:
    rows = (*of_a_judge("Owl"), *of_a_judge("Elk"), *of_a_judge("Fox", board="another"))

    assert drawn_judges(CHARTS[0], figures(rows)) == {"Owl", "Elk"}
    assert set(fullest_board(exact_match(figures(rows)))["board"]) == {"ours"}


def test_a_judge_that_lacks_a_format_has_no_place_among_the_best() -> None:
    half = of_a_judge("Half", value=100.0)[:3]

    judged = by_recipe(fullest_board(exact_match(figures((*of_a_judge("Owl"), *half)))))

    assert set(whole_judges(judged)["judge"]) == {"Owl"}


def test_frames_epochs_and_the_rule_are_read_from_the_names_of_the_papers_runs() -> None:
    name = "PaliGemma 2 3B, projector, 1 frame, 1 epoch"
    table = figures(({**OURS, "model": name, "run_id": "r", "value": 1.0},))

    found = printed_runs(table)

    assert set(found["n"]) == {1, 2, 4, 8} or {1, 8} <= set(found["n"])
    assert {"first", "uniform"} == set(found["policy"])
    assert found["epochs"].min() < 1 <= found["epochs"].max()
    assert set(found["trust"]) == {"C"}


def test_mixtures_of_other_lengths_stand_in_other_columns() -> None:
    cells = exact_match(figures())
    pattern = re.compile(r"formats mixed binary [\d.]+ MC [\d.]+ OE (?P<oe>[\d.]+)")

    columns = set(with_share(cells, pattern, "oe", "open")["mixed"])

    assert len(columns) > 1
    assert all("epoch" in column for column in columns)


def test_seeds_of_a_recipe_are_one_bar_with_their_spread_whatever_they_are_called() -> None:
    three = tuple(
        {**OURS, "model": name, "run_id": name, "recipe": "projector", "value": value}
        for name, value in (("Owl, seed 0", 50.0), ("Owl, seed 1", 60.0), ("Owl again", 70.0))
    )

    found = by_recipe(fullest_board(exact_match(figures(three)))).iloc[0]

    assert (found["value"], found["low"], found["high"]) == (60, 50, 70)


def test_equal_names_alone_make_no_recipe() -> None:
    two = tuple(
        {**OURS, "model": f"Owl, seed {n}", "run_id": f"run {n}", "value": 50.0 + n}
        for n in range(2)
    )

    assert len(by_recipe(fullest_board(exact_match(figures(two))))) == 2


def test_the_panel_tells_answer_and_truth_and_leaves_out_what_is_not_known() -> None:
    def shown(record: dict[str, Any], detail: dict[str, Any]) -> SampleView:
        return SampleView(None, None, record, detail, lambda _sha: Path("none"))  # type: ignore[arg-type]

    said = {"em_normalised": {"said": "yes", "truth": "no"}}

    assert rows(shown({"frames_rule": "uniform-8"}, said)) == [
        ("The judge said", "yes"), ("The truth", "no"), ("Frames it saw", "uniform-8"),
    ]  # fmt: skip
    assert rows(shown({}, {})) == []

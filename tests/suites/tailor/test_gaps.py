"""The gaps are differences of cells: the setting gap by shared questions, the long-tail gap by
all."""

from __future__ import annotations

from evaluators.contracts import ALL, Cell, Facets
from evaluators.suites.tailor.gaps import gaps


def cell(metric: str, value: float | None, scenario: str = ALL, setting: str = ALL) -> Cell:
    return Cell(metric, Facets(scenario, ALL, setting, ALL), value, 4, 4)


def test_the_setting_gap_is_of_the_shared_index_and_not_of_the_index_with_details() -> None:
    cells = [
        *(cell("index", value, setting=name) for name, value in
          ((ALL, 50.0), ("predictive", 20.0), ("descriptive", 80.0))),
        *(cell("shared_index", value, setting=name) for name, value in
          ((ALL, 55.0), ("predictive", 52.0), ("descriptive", 59.0))),
    ]  # fmt: skip

    found = {made.metric: made for made in gaps(cells) if made.facets.setting == ALL}

    assert found["setting_gap"].value == 7.0
    assert found["setting_gap"].facets == Facets(ALL, ALL, ALL, ALL)


def test_without_a_shared_index_there_is_no_setting_gap() -> None:
    cells = [cell("index", 50.0), cell("index", 20.0, setting="predictive")]

    assert {made.metric for made in gaps(cells)} == {"long_tail_gap"}


def test_the_long_tail_gap_is_regular_less_the_mean_of_the_other_two() -> None:
    scenarios = {ALL: 60.0, "regular": 90.0, "unconventional": 60.0, "impossible": 30.0}
    cells = [cell("index", value, scenario=name) for name, value in scenarios.items()]

    (gap,) = gaps(cells)

    assert (gap.metric, gap.value, gap.facets.scenario) == ("long_tail_gap", 45.0, ALL)


def test_a_side_without_a_value_leaves_no_gap_and_says_so() -> None:
    cells = [
        cell("shared_index", 55.0),
        cell("shared_index", 52.0, setting="predictive"),
        cell("shared_index", None, setting="descriptive"),
    ]

    (gap,) = gaps(cells)

    assert gap.value is None and "one side" in gap.why_empty

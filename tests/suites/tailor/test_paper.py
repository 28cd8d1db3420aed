"""What else follows from the printed Table 2: which setting is ahead, and how much is lost on
impossible tools."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import pytest

from evaluators.contracts import Published
from evaluators.suites.tailor.published import published

TABLE_2 = published()


def test_descriptive_prompts_are_ahead_in_79_of_96_image_cells_and_even_in_video() -> None:
    pairs: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for row in TABLE_2:
        key = (row.facets.modality, row.model, row.facets.scenario, row.metric, row.evaluator)
        pairs[key][row.facets.setting] = row.value

    ahead = {
        modality: sum(
            pair["descriptive"] > pair["predictive"]
            for key, pair in pairs.items()
            if key[0] == modality
        )
        for modality in ("image", "video")
    }

    assert len(pairs) == 192
    assert ahead["image"] == 79
    assert ahead["video"] == 51


@pytest.mark.parametrize(
    ("metric", "drop"),
    [
        ("instruction_adherence", 43.5),
        ("interaction_accuracy", 43.3),
        ("physical_realism", 29.0),
        ("perceptual_quality", 25.6),
    ],
)
def test_the_relative_drop_from_regular_to_impossible_is_largest_in_the_two_checklists(
    metric: str, drop: float
) -> None:
    def mean(scenario: str, rows: tuple[Published, ...] = TABLE_2) -> float:
        return fmean(
            row.value for row in rows if (row.metric, row.facets.scenario) == (metric, scenario)
        )

    assert round(100 * (1 - mean("impossible") / mean("regular")), 1) == drop

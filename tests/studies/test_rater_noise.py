"""What raters share of an entry's mean is measured from those who rated the same outputs."""

from __future__ import annotations

import numpy as np
import pytest

from evaluators.contracts import Outcome, Score
from flows.studies.people import rater_noise

RATERS = {"lenient": 1.0, "strict": -1.0, "middling": 0.0}


def rated(name: str, value: float, raters: list[str]) -> dict[str, list[Score]]:
    """One output's marks: everybody sees the same and is strict in his own way."""
    return {
        rater: [Score(name, "realism", Outcome.SCORED, value + RATERS[rater])] for rater in raters
    }


def test_strictness_is_found_though_nobody_rates_everything() -> None:
    pairs = [["lenient", "strict"], ["strict", "middling"], ["lenient", "middling"]]
    single = [rated(f"s{n}", n % 4, pairs[n % 3]) for n in range(12)]

    found = rater_noise(single)["realism"]

    assert found.error == pytest.approx(np.std(list(RATERS.values()), ddof=1) / 3**0.5)
    assert (found.outputs, found.times) == (12, 3)


def test_one_rater_an_output_measures_nothing() -> None:
    assert rater_noise([rated(f"s{n}", n, ["strict"]) for n in range(5)]) == {}

"""Leaving outputs out never pays: 200 random masks, and no score of any cell rises."""

from __future__ import annotations

import random

from evaluators.columns import without_intervals
from evaluators.contracts import Answer, Outcome, Output, Sample, Score
from evaluators.suites.tailor import SUITE
from evaluators.suites.tailor.scoring import PER_SAMPLE, score
from tests.bundles import demo_samples

MASKS, SEED = 200, 20260624
SAMPLES = (*demo_samples("image"), *demo_samples("video"))


def answered(sample: Sample, dice: random.Random) -> tuple[Score, ...]:
    """A sample's scores after a throw of the dice for each question."""
    answers = {one.id: Answer(one.id, Outcome.SCORED, dice.choice(one.options)) for one in sample.questions}
    return score(sample, Output(sample.id, Outcome.SCORED), answers)


def values(scores: list[Score]) -> dict[tuple[object, ...], float | None]:
    """Every cell of a metric that samples have; a gap is a difference between two of them and may go either way."""
    made = without_intervals(SUITE, SAMPLES, scores)
    return {(cell.metric, cell.facets): cell.value for cell in made if cell.metric in PER_SAMPLE}


def test_no_mask_of_missing_outputs_raises_any_cell() -> None:
    dice = random.Random(SEED)
    whole = {sample.id: answered(sample, dice) for sample in SAMPLES}
    before = values([one for scores in whole.values() for one in scores])

    for number in range(MASKS):
        missing = set(dice.sample(list(whole), dice.randint(1, len(whole))))
        gone = {one.id: score(one, Output(one.id, Outcome.OUTPUT_MISSING), {}) for one in SAMPLES if one.id in missing}
        after = values([one for scores in {**whole, **gone}.values() for one in scores])

        assert after.keys() == before.keys()
        for key, value in after.items():
            assert (value or 0.0) <= (before[key] or 0.0) + 1e-9, (number, key)

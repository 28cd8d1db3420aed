"""Leaving outputs out never pays: 10,000 random masks of each suite, and no score of any cell
rises.

Only official scores are meant. Differences of two of them may go either way, as may what only
describes a run (how a loop went, how many rollouts were stopped), which nobody is ranked by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from evaluators.aggregate.addresses import codes_of, metric_groups, places_of, table_of
from evaluators.contracts import Answer, Cell, Facets, Outcome, Output, Sample, Score, Suite
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.statistics.intervals import macro_mean
from evaluators.suites import suite_named
from evaluators.suites.liva.bank import most_clips
from evaluators.suites.liva.metrics import FIDELITY
from evaluators.suites.sc3 import scoring as sc3
from evaluators.suites.sc3.samples import criteria_of

MASKS, SEED = 10_000, 20260624
Made = Callable[[Sample, np.random.Generator], tuple[Output, Mapping[str, Answer]]]
Values = dict[tuple[str, Facets], float]


def _tailor(sample: Sample, dice: np.random.Generator) -> tuple[Output, Mapping[str, Answer]]:
    said = {
        one.id: Answer(one.id, Outcome.SCORED, str(dice.choice(one.options)))
        for one in sample.questions
    }
    return Output(sample.id, Outcome.SCORED), said


def _universe(sample: Sample, dice: np.random.Generator) -> tuple[Output, Mapping[str, Answer]]:
    said = str(sample.reference["answer"]) if dice.random() < 0.6 else "no idea"
    return Output(sample.id, Outcome.SCORED, record={"value": said}), {}


def _liva(sample: Sample, dice: np.random.Generator) -> tuple[Output, Mapping[str, Answer]]:
    count = int(dice.integers(1, most_clips(sample) + 1))
    clips = [{"sha256": f"{number:064}", "caption": "It does."} for number in range(count)]
    said = {
        f"{n}.af": Answer(f"{n}.af", Outcome.SCORED, str(dice.integers(0, 2))) for n in range(count)
    }
    return Output(sample.id, Outcome.SCORED, record={"clips": clips}), said  # type: ignore[dict-item]


def _sc3(sample: Sample, dice: np.random.Generator) -> tuple[Output, Mapping[str, Answer]]:
    criteria = dict(criteria_of(ObjectOutcome(*(bool(dice.random() < 0.6) for _ in range(3)))))
    likeness = {"psnr": float(dice.uniform(10, 40)), "ssim": float(dice.uniform(0, 1))}
    read = {"criteria": criteria, **likeness, "terminated_at": None}
    return Output(sample.id, Outcome.SCORED, record={"value": read}), {}  # type: ignore[dict-item]


MADE: dict[str, Made] = {"tailor": _tailor, "universe": _universe, "liva": _liva, "sc3": _sc3}
DESCRIBES = {"termination_rate", "real_rate"}


def scored(suite: Suite) -> tuple[list[Sample], list[list[Score]], list[list[Score]]]:
    """Samples of the demo with their scores: as answered by a throw of dice, and with the output
    gone."""
    assert suite.scoring is not None
    dice = np.random.default_rng(SEED)
    samples = [sample for sample in suite.samples() if suite.subsets["demo"](sample)]
    whole = [
        list(suite.scoring.score(sample, *MADE[suite.name](sample, dice))) for sample in samples
    ]
    gone = [
        list(suite.scoring.score(one, Output(one.id, Outcome.OUTPUT_MISSING), {}))
        for one in samples
    ]
    return samples, whole, gone


def masks(count: int, samples: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which outputs are gone, a row a mask: from hardly any to nearly all."""
    dice = np.random.default_rng(SEED)
    return dice.random((count, samples)) < dice.random((count, 1))


def flat(scores: Sequence[Sequence[Score]]) -> list[Score]:
    return [one for some in scores for one in some]


@pytest.mark.parametrize("name", ["tailor", "universe"])
def test_no_mask_raises_a_mean(name: str) -> None:
    suite = suite_named(name)
    samples, whole, gone = scored(suite)
    named = {one.metric for one in flat(whole)}
    metrics = [metric for metric in suite.metrics if metric.name in named]
    codes, lost = codes_of(samples), masks(MASKS, len(samples)).T
    before, without = (table_of(metrics, samples, flat(some)).values for some in (whole, gone))

    for number, metric in enumerate(metrics):
        tried = np.where(lost, without[:, [number]], before[:, [number]])
        for place in places_of(codes):
            ((_, parts),) = metric_groups([metric], codes, place)
            at, after = (
                macro_mean(some[place.members], parts) for some in (before[:, [number]], tried)
            )

            assert (np.isnan(after) == np.isnan(at)).all()
            assert (
                np.isnan(at)
                | (after <= at + 1e-9 if metric.direction == "higher" else after >= at - 1e-9)
            ).all()


@pytest.mark.parametrize("name", ["liva", "sc3"])
@pytest.mark.parametrize("count", [40, pytest.param(MASKS, marks=pytest.mark.long)])
def test_no_mask_raises_what_a_suite_tabulates(
    name: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sc3, "RESAMPLES", 2)
    suite = suite_named(name)
    samples, whole, gone = scored(suite)
    better = {one.name: 1.0 if one.direction == "higher" else -1.0 for one in suite.metrics}
    before = _values(suite, samples, flat(whole), better)

    for lost in masks(count, len(samples)):
        some = [gone[n] if lost[n] else whole[n] for n in range(len(samples))]
        for key, value in _values(suite, samples, flat(some), better).items():
            assert value <= before[key] + 1e-9, key


def _values(
    suite: Suite, samples: Sequence[Sample], scores: Sequence[Score], better: Mapping[str, float]
) -> Values:
    """Official scores, larger is better; a cell without a value has none to be ranked by."""
    assert suite.tabulate is not None
    made = [
        cell
        for cell in suite.tabulate(samples, scores)
        if cell.value is not None and _is_official(suite, cell)
    ]
    return {(cell.metric, cell.facets): better[cell.metric] * (cell.value or 0.0) for cell in made}


def _is_official(suite: Suite, cell: Cell) -> bool:
    return cell.metric not in DESCRIBES if suite.name == "sc3" else cell.metric == FIDELITY.name


def test_of_agreement_with_rates_of_a_part_there_is_no_value_to_gain() -> None:
    suite = suite_named("sc3")
    samples, whole, gone = scored(suite)
    assert suite.tabulate is not None
    named = ("pearson_r", "mmrv", "pearson_r_within", "rate_error")

    found = suite.tabulate(samples, flat([gone[0], *whole[1:]]))

    setting, scenario = samples[0].facets.setting, samples[0].facets.scenario
    touched = [
        c for c in found if c.facets.setting == setting and c.facets.scenario in ("*", scenario)
    ]
    assert {cell.value for cell in touched if cell.metric in named} == {None}

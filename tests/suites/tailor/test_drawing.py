"""Fresh samples of the bank are drawn by a seed, and what was read of them is told."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from evaluators.suites.tailor.bank import samples
from evaluators.suites.tailor.upkeep.drawing import (
    SampleReading,
    read_twice,
    readings,
    stratified,
)
from evaluators.suites.tailor.upkeep.records import CATEGORIES, WHO
from tests.command import Machine

README = (files("evaluators.suites.tailor") / "README.md").read_text("utf-8")


def test_a_sample_has_the_shares_of_the_bank_in_every_stratum() -> None:
    drawn = stratified(samples(), "a seed", 120)

    facets = [sample.facets for sample in drawn]
    assert len({sample.id for sample in drawn}) == 120
    assert Counter(place.scenario for place in facets) == {
        "regular": 24,
        "unconventional": 48,
        "impossible": 48,
    }
    assert set(Counter((place.setting, place.modality) for place in facets).values()) == {30}


def test_another_seed_is_another_sample_and_the_same_seed_the_same() -> None:
    first, again, other = (stratified(samples(), seed, 120) for seed in ("a", "a", "b"))

    assert first == again
    assert len({sample.id for sample in first} & {sample.id for sample in other}) < 60


def test_a_count_that_no_stratum_divides_is_met_all_the_same() -> None:
    assert len(stratified(samples(), "a", 101)) == 101


@pytest.mark.parametrize("reading", readings(), ids=lambda reading: reading.seed[:8])
def test_what_was_found_in_a_sample_lies_in_the_sample_of_its_seed(reading: SampleReading) -> None:
    drawn = {sample.id for sample in stratified(samples(), reading.seed, reading.drawn)}
    assert set(reading.faulty) <= drawn
    assert set(reading.categories) <= set(CATEGORIES)
    assert reading.by in WHO
    assert set(reading.material) <= set(reading.faulty)
    low, high = reading.interval
    assert low <= len(reading.material) / reading.prompts <= high


def _read(seed: str, *material: str, settled: tuple[str, ...] | None = None) -> SampleReading:
    return SampleReading(
        seed, "1.0", "person", 10, 10, material, material, Counter(), settled=settled
    )


def test_two_readings_of_one_sample_are_compared_and_those_of_two_samples_are_not() -> None:
    (sample,) = read_twice([_read("s", "a", "b"), _read("s", "b", "c"), _read("t", "a")])

    assert (sample.seed, sample.each, sample.both, sample.either) == ("s", (2, 2), 1, 3)
    assert sample.kappa == pytest.approx((0.8 - 0.68) / (1 - 0.68))
    assert sample.interval[0] < 0.1 < sample.interval[1]


def test_two_who_find_nothing_agree_and_have_no_kappa() -> None:
    (sample,) = read_twice([_read("s"), _read("s")])

    assert (sample.both, sample.either, sample.kappa) == (0, 0, None)


def test_what_a_third_settles_is_of_what_one_of_the_two_found() -> None:
    (settled,) = read_twice([_read("s", "a", "b"), _read("s", "b", "c", settled=("a", "c"))])
    (none_held,) = read_twice([_read("s", "a", settled=()), _read("s")])
    (open_still,) = read_twice([_read("s", "a"), _read("s")])

    assert settled.settled == 2
    assert settled.settled_interval and settled.settled_interval[0] < 0.2
    assert (none_held.settled, open_still.settled) == (0, None)
    assert open_still.settled_interval is None
    with pytest.raises(ValueError, match="settles d in sample s, in which neither"):
        read_twice([_read("s", "a"), _read("s", "b", settled=("d",))])


def test_the_settled_samples_of_the_open_bank_are_told_by_the_report_and_the_readme(
    tmp_path: Path,
) -> None:
    settled = {
        sample.seed[:8]: (sample.bank, sample.settled, sample.either)
        for sample in read_twice(readings())
        if sample.settled is not None
    }

    said = Machine(tmp_path).run("tailor", "review-report")

    assert settled == {"182b61a6": ("3.5", 13, 18), "a614b100": ("3.6", 10, 10)}
    assert "to either in 18; kappa 0.31. A third settles 13 as material (6.4% to 17.7%)." in said
    assert "to either in 10; kappa 0.64. A third settles 10 as material (4.6% to 14.7%)." in said
    assert said.count("A third settles") == 2
    assert "settled the 18 of 3.5: 13 hold, 11 % (6 to 18)" in README
    assert "| 3.6, by itself | 7 | 8 | 5 | 10 | 10 (8.3 %) | 5 to 15 |" in README

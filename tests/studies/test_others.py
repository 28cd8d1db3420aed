"""Other metrics against people's marks: found where they go together, and nothing where marks are
shuffled, a metric is constant, or there is too little."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from evaluators.contracts import Json, Outcome, Output, Score
from evaluators.metrics.image import frechet
from evaluators.suites.likeness import NO_WEIGHTS, _text
from evaluators.suites.universe.boards.worlds.bank import samples
from flows.studies.against_people.other_metrics import NOT_TOLD, SEVERAL, others_and_people
from flows.studies.people import People
from infra import tables
from leaderboard.studies.correlating import absences, entry_rows, printed_rows, rows

STARTS = samples()[:24]
MARK = "strict_accuracy"
Numbers = Callable[[int, int], float]
"""A number by the entry's place and the start's."""


def quality(entry: int, start: int) -> float:
    return 20.0 * entry + float(np.random.default_rng([entry, start]).normal(0, 8))


def entry(
    place: int, marked: Numbers, told: Callable[[int, int], dict[str, Json]], lost: int = 0
) -> People:
    """An entry whose first few outputs failed."""
    outputs, scores = {}, []
    for number, sample in enumerate(STARTS):
        if number < lost:
            outputs[sample.id] = Output(sample.id, Outcome.OUTPUT_MISSING)
            scores.append(Score(sample.id, MARK, Outcome.OUTPUT_MISSING))
            continue
        value = {"psnr": 10.0, "gain": 0.0, "ssim": 0.5, **told(place, number)}
        outputs[sample.id] = Output(sample.id, Outcome.SCORED, record={"value": value})
        scores.append(Score(sample.id, MARK, Outcome.SCORED, marked(place, number)))
    row = tables.Submission(id=f"sub-{place}", model=f"World {place}", suite="universe_worlds")  # type: ignore[call-arg]
    return People(row, STARTS, {}, outputs, tuple(scores), {})


def entries(
    marked: Numbers, told: Callable[[int, int], dict[str, Json]], count: int = 5
) -> list[People]:
    return [entry(place, marked, told) for place in range(count)]


def by_psnr(place: int, number: int) -> dict[str, Json]:
    return {"psnr": quality(place, number)}


def test_a_metric_that_follows_people_is_found_over_entries_outputs_and_within_entries() -> None:
    found = others_and_people(entries(lambda e, s: 2 * quality(e, s) + 1, by_psnr))

    for over in ("entries", "outputs", "within"):
        assert found[over]["psnr"][MARK]["pearson"]["value"] == pytest.approx(1)
        assert found[over]["psnr"][MARK]["spearman"]["value"] == pytest.approx(1)
    assert (found["entries"]["psnr"][MARK]["n"], found["outputs"]["psnr"][MARK]["n"]) == (5, 120)


def test_shuffled_marks_go_with_nothing() -> None:
    marks = np.random.default_rng(3).permutation(
        [quality(place, number) for place in range(5) for number in range(len(STARTS))]
    )
    found = others_and_people(entries(lambda e, s: float(marks[e * len(STARTS) + s]), by_psnr))

    for over in ("entries", "outputs", "within"):
        for side in ("pearson", "spearman"):
            figure = found[over]["psnr"][MARK][side]
            assert figure["low"] < 0 < figure["high"]
    assert abs(found["outputs"]["psnr"][MARK]["pearson"]["value"]) < 0.25


def test_a_constant_metric_and_constant_marks_have_no_correlation() -> None:
    metric = others_and_people(entries(quality, lambda _e, _s: {"psnr": 21.3}))
    marks = others_and_people(entries(lambda _e, _s: 66.6, by_psnr))

    for found in (metric, marks):
        for over in ("entries", "outputs", "within"):
            told = found[over]["psnr"][MARK]
            assert told["pearson"]["value"] is None and told["spearman"]["value"] is None
            assert told["absent"] == "one side does not vary"


def test_what_entries_differ_in_is_no_part_of_the_correlation_within_them() -> None:
    def of_the_entry(place: int, _number: int) -> dict[str, Json]:
        return {"psnr": 10.1 + place / 3}

    found = others_and_people(entries(quality, of_the_entry))

    assert found["outputs"]["psnr"][MARK]["pearson"]["value"] > 0.8
    assert found["within"]["psnr"][MARK]["absent"] == "one side does not vary"


def test_too_few_entries_and_too_few_starts_give_no_figure_but_their_number() -> None:
    found = others_and_people(entries(quality, by_psnr, count=3))
    place = STARTS[0].facets.scenario
    there = sum(sample.facets.scenario == place for sample in STARTS)

    assert found["entries"]["psnr"][MARK] == {
        "pearson": {"value": None, "low": None, "high": None},
        "spearman": {"value": None, "low": None, "high": None},
        "n": 3,
        "absent": "too few",
    }
    assert found["outputs"]["psnr"][MARK]["n"] == 72
    assert found["places"][place]["psnr"][MARK]["n"] == 3 * there


def test_an_output_that_failed_was_rated_by_nobody_and_is_no_point() -> None:
    whole = [entry(place, quality, by_psnr, lost=place) for place in range(5)]

    found = others_and_people(whole)

    assert found["outputs"]["psnr"][MARK]["n"] == 5 * 24 - 10
    assert [row["n"] for row in found["table"].values()] == [24, 23, 22, 21, 20]


def test_without_weights_lpips_and_fvd_are_absent_with_a_word() -> None:
    found = others_and_people(entries(quality, by_psnr))

    assert absences(found) == [f"LPIPS: {NO_WEIGHTS}.", f"FVD: {NO_WEIGHTS}."]
    assert {row["Metric"] for row in rows(found)} == {"PSNR", "PSNR above a frozen frame", "SSIM"}


def test_numbers_of_several_weights_are_not_put_together() -> None:
    def weighed(place: int, number: int) -> dict[str, Json]:
        return {"lpips": quality(place, number), "lpips_by": f"weights {place % 2}"}

    found = others_and_people(entries(quality, weighed))

    assert found["metrics"]["lpips"]["absent"] == SEVERAL
    assert "lpips" not in found["outputs"]
    assert NOT_TOLD not in found["metrics"]["lpips"]["absent"]


def features(seed: Sequence[int], shift: float) -> np.ndarray:
    noise = np.random.default_rng(list(seed)).normal(0, 1, (1, 6))
    return (noise + shift).astype(np.float32)


def test_fvd_of_an_entry_is_taken_over_all_its_rollouts_and_of_one_is_a_distance() -> None:
    def filmed(place: int, number: int) -> dict[str, Json]:
        real, made = features([9, number], 0.0), features([place, number], float(place))
        return {"films": {"real": _text(real), "generated": _text(made), "by": "w"}}

    found = others_and_people(entries(lambda e, _s: 100.0 - 20 * e, filmed))

    sides = [
        np.concatenate([features([seed, number], shift) for number in range(len(STARTS))])
        for seed, shift in ((9, 0.0), (3, 3.0))
    ]
    assert found["table"]["sub-3"]["fvd"] == pytest.approx(
        frechet(real=sides[0], generated=sides[1]), rel=1e-5
    )
    assert found["entries"]["fvd"][MARK]["spearman"]["value"] == pytest.approx(-1)
    assert found["outputs"]["fvd"][MARK]["pearson"]["value"] < -0.8


def test_the_paper_s_figures_stand_beside_and_are_said_to_be_of_other_data() -> None:
    found = others_and_people(entries(quality, by_psnr))
    printed = printed_rows(found)

    assert len(printed) == 16 and all("Other data" in row["Of"] for row in printed)
    first = next(
        r for r in printed if (r["Where"], r["Task"]) == ("Environment 1", "Action recognition")
    )
    assert first["Value"] == 0.09 and "Table 18" in first["Source"]
    assert [row["Entry"] for row in entry_rows(found)] == [f"World {n}" for n in range(5)]

"""Numbers over many draws at once are the numbers of each draw on its own."""

from __future__ import annotations

import numpy as np
import pytest

from evaluators.contracts import Json, Outcome, Output, Sample
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match, agree
from evaluators.suites.sc3.resampling import draw, ends, ends_around
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.suites.sc3.samples import criteria_of
from evaluators.suites.sc3.scoring import score, tabulate
from tests.suites.sc3.rolled import DEMO, cell

COUNT = 40


def outcome(dice: np.random.Generator) -> ObjectOutcome:
    return ObjectOutcome(*(bool(dice.random() < share) for share in (0.8, 0.6, 0.5)))


def thrown(seed: int, policies: int, starts: int, missing: float = 0.0) -> list[Match]:
    """Matches by a throw of dice, of one object or two, some without a rollout."""
    dice = np.random.default_rng(seed)
    found = []
    for policy in range(1, policies + 1):
        for number in range(starts):
            real, made = ([outcome(dice) for _ in range(1 + number % 2)] for _ in range(2))
            rollout = None if dice.random() < missing else tuple(made)
            found.append(
                Match(f"p{policy}-{number}", policy, "in_distribution", tuple(real), rollout)
            )
    return found


def near(found: float, expected: float | None) -> bool:
    return np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "matches",
    [thrown(1, 7, 5), thrown(2, 3, 2, 0.4), thrown(3, 1, 4), thrown(4, 2, 1), thrown(5, 4, 3, 1.0)],
    ids=["many", "few, some missing", "one policy", "one start", "all missing"],
)
@pytest.mark.parametrize("criteria", [CRITERIA, CRITERIA[1:2]])
def test_every_draw_has_the_numbers_that_it_has_alone(
    matches: list[Match], criteria: tuple[str, ...]
) -> None:
    draws = draw(matches, COUNT)

    drawn = draws.agreement(criteria)

    for number, rows in enumerate(draws.rows):
        alone = agree([matches[row] for row in rows], criteria)
        for name in ("pearson_r", "mmrv", "pearson_r_within", "rate_error"):
            assert near(getattr(drawn, name)[number], getattr(alone, name)), name
        assert near(draws.reproduction()[number], alone.reproduction.average)
        for kind, rate in enumerate(alone.reproduction.rates):
            assert near(draws.endings[number, kind], rate.value)


def test_a_draw_has_as_many_starts_of_each_policy_as_there_are() -> None:
    matches = thrown(6, 3, 4)

    draws = draw(matches, COUNT)

    for rows in draws.rows:
        assert [matches[row].policy for row in rows] == [match.policy for match in matches]
    assert len({tuple(rows) for rows in draws.rows.tolist()}) > COUNT // 2


def test_the_ends_are_the_middle_of_the_draws_and_none_where_most_have_no_value() -> None:
    values = np.random.default_rng(0).normal(size=200)

    assert ends(values) == pytest.approx(np.quantile(values, (0.025, 0.975)))
    assert ends(np.where(np.arange(200) < 120, np.nan, values)) is None


def test_the_spread_of_noisier_draws_is_laid_around_the_figure_itself() -> None:
    values = np.random.default_rng(0).normal(0.4, 0.1, size=200)
    low, high = np.quantile(values, (0.025, 0.975)) - np.median(values)

    assert ends_around(values, 0.7) == pytest.approx((0.7 + low, 0.7 + high))
    assert ends_around(values, 0.95, "pearson_r") == pytest.approx((0.95 + low, 1.0))
    assert ends_around(values - 1, -0.6, "pearson_r") == pytest.approx((-0.6 + low, -0.6 + high))
    assert ends_around(values, None) is None


def test_agreement_of_few_starts_lies_inside_its_own_interval() -> None:
    outside = 0
    for seed in range(20):
        matches = thrown(seed, 7, 4)
        agreed, drawn = agree(matches), draw(matches, COUNT).agreement()
        for name in ("pearson_r", "mmrv", "pearson_r_within", "rate_error"):
            figure = getattr(agreed, name)
            low, high = ends_around(getattr(drawn, name), figure, name) or (1, -1)
            plain_low, plain_high = ends(getattr(drawn, name)) or (1, -1)
            assert low <= figure <= high
            outside += not plain_low <= figure <= plain_high

    assert outside > 0, "Without the shift some figures lay outside."


def made(sample: Sample, dice: np.random.Generator) -> Output:
    stopped = int(dice.integers(1, 4)) if dice.random() < 0.3 else None
    criteria: Json = {**criteria_of(outcome(dice))}
    read: Json = {
        "criteria": criteria,
        "psnr": float(dice.uniform(10, 40)),
        "terminated_at": stopped,
    }
    return Output(sample.id, Outcome.SCORED, record={"value": read})


def test_every_number_has_an_interval_around_it_and_a_rate_counts_its_policy_s_rollouts() -> None:
    dice = np.random.default_rng(7)
    found = tabulate(
        DEMO, [one for sample in DEMO for one in score(sample, made(sample, dice), {})]
    )

    known = [one for one in found if one.value is not None and one.low is not None]
    assert {one.metric for one in known} >= {
        "psnr",
        "termination_rate",
        "predicted_rate",
        "reproduction_no_failure",
        "pearson_r",
        "mmrv",
    }
    unsure = {one.metric for one in found if one.value is not None and one.low is None}
    assert unsure <= {"pearson_r", "pearson_r_within"}
    for name in ("psnr", "termination_rate", "predicted_rate", "pearson_r", "mmrv", "rate_error"):
        assert all(one.low <= one.value <= one.high for one in known if one.metric == name)  # type: ignore[operator]
    rate = cell(found, "predicted_rate", "policy_5 object_lifting", "online", "out_of_distribution")
    assert (rate.n_scored, rate.n_expected) == (3, 3)
    assert cell(found, "mmrv", "object_lifting", "online").low is not None

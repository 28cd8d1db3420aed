"""Private samples: aggregates only, and a mark where the public score is better by more than two
standard errors."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sqlmodel import Session, select

from evaluators.statistics.private_gap import Mean, gap
from flows.publish import private_gap
from infra.tables.standing import Hidden
from tests.standing.tiny import SUITE, Dice, asked, enter, scored


def private(dice: Dice) -> tuple[list, list]:  # type: ignore[type-arg]
    """The same kind of samples under private names."""
    samples = [replace(s, id=f"private.{s.id}") for s in asked(dice)]
    return samples, [
        replace(score, sample_id=f"private.{score.sample_id}")
        for score in scored(dice, asked(dice))
    ]


@pytest.mark.parametrize(("there", "marked"), [(70.0, False), (40.0, True)])
def test_only_aggregates_are_kept_and_a_large_gap_is_marked(
    db: Session, there: float, marked: bool
) -> None:
    dice = Dice("a", 70)
    run = enter(db, dice)

    private_gap.store(
        db, SUITE, run, (asked(dice), scored(dice, asked(dice))), private(Dice("a", there, seed=4))
    )

    rows = db.exec(
        select(Hidden).where(Hidden.metric == "index", Hidden.scenario == "*", Hidden.task == "*")
    ).all()
    assert {row.marked for row in rows} == {marked}
    assert all(row.n_expected >= 24 for row in rows)
    assert "private." not in json.dumps([row.model_dump() for row in db.exec(select(Hidden))])


def test_where_lower_is_better_the_gap_turns() -> None:
    public, secret = Mean(10.0, 1.0, 80), Mean(20.0, 1.0, 80)

    worse, better = gap(public, secret), gap(public, secret, higher=False)

    assert worse is not None and better is not None
    assert (worse.value, worse.marked) == (-10.0, False)
    assert (better.value, better.marked) == (10.0, True)


def test_one_task_has_no_gap() -> None:
    assert gap(Mean(10.0, 0.0, 1), Mean(20.0, 1.0, 80)) is None

"""The starts of UNIVERSE's second board: what a world is given, and what is asked about it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from evaluators.suites.universe.bank import FILE as FIRST_BOARD
from evaluators.suites.universe.bank import read_rows
from evaluators.suites.universe.boards.worlds.bank import (
    FIRST_ROLLOUT_SEED,
    LEAD,
    buttons_of,
    hand_out,
    in_demo,
    rows,
    samples,
    start_of,
)
from evaluators.suites.universe.boards.worlds.kit import PRACTICE_SEED
from evaluators.worlds.doom.places import ACTIONS, BUTTONS, FRAMES, PLACES


def test_every_environment_has_sixteen_starts_two_of_each_action() -> None:
    counted = Counter((row.clip.environment, row.action) for row in rows())

    assert set(counted.values()) == {2}
    assert len(counted) == len(PLACES) * len(ACTIONS)
    assert len({sample.id for sample in samples()}) == 128


def test_a_wrong_label_is_asked_about_as_often_as_the_same_label_is_right() -> None:
    pairs = [row for row in rows() if row.binary]

    assert len(pairs) == 64
    assert all(row.asks_action != row.action for row in pairs)
    assert all(row.asks_character != row.character for row in pairs)
    assert Counter(row.asks_action for row in pairs) == Counter(row.action for row in pairs)
    assert Counter(r.asks_character for r in pairs) == Counter(r.character for r in pairs)


def test_the_buttons_press_the_action_and_nothing_before_it() -> None:
    for sample in samples():
        buttons = buttons_of(sample)
        own = ACTIONS[sample.facets.task.replace("_", " ")]
        others = [button for button in ACTIONS.values() if button != own]

        assert buttons.shape == (FRAMES, len(BUTTONS))
        assert buttons[:, own].max() > 0 and not buttons[:, others].any()
        assert not buttons[0].any()


def test_starts_are_of_sessions_that_nothing_else_uses() -> None:
    seeds = {row.clip.seed for row in rows()}
    first_board = {row.clip.seed for row in read_rows(FIRST_BOARD)}

    assert min(seeds) >= FIRST_ROLLOUT_SEED > PRACTICE_SEED + 10**6
    assert not seeds & first_board


def test_neither_the_prompt_nor_the_order_of_a_pair_tells_the_answer() -> None:
    first_is_right = [
        sample.questions[0].text.endswith(f"{sample.reference['labels']['action']}?")  # type: ignore[index,call-overload]
        for sample in samples()
        if sample.facets.setting == "yes_no"
    ]

    assert len({sample.prompt for sample in samples()}) == 1
    assert 20 <= sum(first_is_right) <= 44


def test_the_demo_has_one_start_an_environment_with_an_action_each() -> None:
    demo = [sample for sample in samples() if in_demo(sample)]

    assert {sample.facets.scenario for sample in demo} == {place.name for place in PLACES}
    assert {sample.facets.task.replace("_", " ") for sample in demo} == set(ACTIONS)
    assert {sample.facets.setting for sample in demo} == {"yes_no", "choice"}


def test_what_is_handed_out_is_the_given_frames_and_buttons_and_nothing_that_follows(
    tmp_path: Path,
) -> None:
    sample = next(sample for sample in samples() if in_demo(sample))
    start = start_of(sample)

    name = hand_out(sample, tmp_path)

    assert sorted(path.name for path in (tmp_path / name).iterdir()) == [
        *(f"{number:02d}.png" for number in range(LEAD)),
        "buttons.npy",
    ]
    assert np.array_equal(np.load(tmp_path / name / "buttons.npy"), start.buttons)
    assert (len(start.context), len(start.truth)) == (LEAD, FRAMES)
    assert not np.array_equal(start.context[-1], start.truth[-1])

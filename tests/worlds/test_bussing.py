"""The simulated bench: physics, truth, pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.worlds.actions import BadActions, check_actions
from evaluators.worlds.bussing.bench import arm_after, outcomes, run, set_table
from evaluators.worlds.bussing.starts import BINS, FORWARD, OBJECTS, REVERSED, Start, draw_start
from evaluators.worlds.bussing.views import VIEWS, film, render
from evaluators.worlds.pictures import Size
from evaluators.worlds.policies.plans import CHUNK, Leg, follow

START = draw_start("a start", FORWARD)
X, Y = START.places[START.named]
TO_BIN = BINS[START.bin_of(START.named)]
FETCH = [
    Leg((X, Y, 0.3), 1.0),
    Leg((X, Y, 0.05), 1.0),
    Leg((X, Y, 0.05), 0.0, 3),
    Leg((X, Y, 0.4), 0.0),
]
BRING = [Leg((*TO_BIN, 0.4), 0.0), Leg((*TO_BIN, 0.4), 1.0, 3)]


def ended(legs: list[Leg], start: Start = START) -> ObjectOutcome:
    states = run(set_table([start]), follow(start.hand, 0.0, legs, 80)[None])
    return outcomes(states[-1], [start])[0]


def test_the_same_name_is_the_same_start() -> None:
    assert draw_start("a start", FORWARD) == START and draw_start("another", FORWARD) != START


def test_there_are_twelve_objects_of_two_kinds_and_a_reversed_task_swaps_the_bins() -> None:
    other = draw_start("a start", REVERSED)

    assert len(OBJECTS) == 12
    assert START.instruction.split(" into ")[0] == other.instruction.split(" into ")[0]
    assert START.bin_of(0) == other.bin_of(1)


def test_an_object_that_is_fetched_and_put_into_its_bin_meets_every_criterion() -> None:
    done = ended(FETCH + BRING)

    assert (done.language_following, done.object_lifting, done.object_placing) == (True, True, True)


def test_a_hand_that_closes_beside_the_object_has_chosen_rightly_and_lifts_nothing() -> None:
    beside = [
        Leg((X, Y + 0.14, 0.05), 1.0),
        Leg((X, Y + 0.14, 0.05), 0.0, 3),
        Leg((X, Y, 0.4), 0.0),
    ]

    done = ended(beside + BRING)

    assert (done.language_following, done.object_lifting, done.object_placing) == (
        True,
        False,
        False,
    )


def test_an_object_let_go_on_the_way_is_lifted_and_not_placed() -> None:
    done = ended([*FETCH, Leg((0.5, 0.55, 0.4), 0.0), Leg((0.5, 0.55, 0.4), 1.0, 3)])

    assert (done.object_lifting, done.object_placing) == (True, False)


def test_the_other_object_breaks_language_following_only() -> None:
    x, y = START.places[1 - START.named]
    legs = [
        Leg((x, y, 0.3), 1.0),
        Leg((x, y, 0.05), 1.0),
        Leg((x, y, 0.05), 0.0, 3),
        Leg((x, y, 0.4), 0.0),
    ]

    done = ended(legs + BRING)

    assert (done.language_following, done.object_lifting, done.object_placing) == (
        False,
        True,
        True,
    )


def test_nothing_tried_is_nothing_met() -> None:
    done = ended([Leg((0.5, 0.5, 0.5), 1.0)])

    assert (done.language_following, done.object_lifting, done.object_placing) == (
        False,
        False,
        False,
    )


def test_an_object_still_in_the_hand_over_its_bin_is_not_placed() -> None:
    assert not ended(FETCH + BRING[:1]).object_placing


def test_episodes_in_a_batch_do_not_touch_each_other() -> None:
    starts = [draw_start(f"s{number}", FORWARD) for number in range(5)]
    actions = np.random.default_rng(0).normal(0, 0.05, (5, 20, 7))

    together = run(set_table(starts), actions)[-1]
    alone = [run(set_table([start]), actions[n : n + 1])[-1] for n, start in enumerate(starts)]

    assert np.array_equal(together.objects, np.concatenate([table.objects for table in alone]))
    assert np.array_equal(render(together, starts)[3], render(alone[3], starts[3:4])[0])


def test_the_arm_is_where_its_actions_brought_it() -> None:
    actions = follow(START.hand, 0.0, [Leg((0.2, 0.3, 0.1), 0.0)], CHUNK)[None]

    arm = arm_after([START], actions)

    assert np.allclose(arm[0, :3], (0.2, 0.3, 0.1), atol=1e-5) and arm[0, 4] == 0


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (np.zeros((25, 6)), "7 numbers"),
        (np.full((25, 7), np.nan), "not a finite number"),
        (np.zeros((24, 7)), "24 actions where 25"),
        (np.zeros(7), "7 numbers"),
    ],
)
def test_actions_that_cannot_be_carried_out_are_refused_with_the_reason(
    actions: npt.NDArray[np.float64], said: str
) -> None:
    with pytest.raises(BadActions, match=said):
        check_actions(actions, CHUNK)


def test_every_view_shows_a_lifted_object_in_another_place() -> None:
    states = run(set_table([START]), follow(START.hand, 0.0, FETCH, 40)[None])

    frames = film(states, [START])

    assert frames.shape == (1, len(VIEWS), 40, 24, 24, 3)
    assert all((frames[0, view, 0] != frames[0, view, -1]).any() for view in range(3))


def test_a_view_may_have_any_size() -> None:
    assert render(set_table([START]), [START], Size(48, 64)).shape == (1, 3, 48, 64, 3)


def test_no_states_make_no_pictures() -> None:
    assert render(set_table([]), []).shape == (0, 3, 24, 24, 3)

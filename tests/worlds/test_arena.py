"""The simulated arena: the same seed is the same game, and one frame does not betray the action."""

from __future__ import annotations

import numpy as np
import pytest

from evaluators.worlds.arena import game
from evaluators.worlds.arena.looks import CHARACTERS, ENVIRONMENTS, SKINS, environment_named


def clip(
    action: str, seed: int = 3, character: str = "Kulu", environment: str = "environment_1"
) -> game.Frames:
    return game.render(game.play_clip(environment, action, character, seed), game.clip_times())


def test_the_same_seed_is_the_same_clip_and_another_seed_another_one() -> None:
    assert np.array_equal(clip("evading left"), clip("evading left"))
    assert not np.array_equal(clip("evading left"), clip("evading left", seed=4))


@pytest.mark.parametrize("size", [game.SIZE, game.LOW_RESOLUTION])
def test_a_clip_has_fourteen_frames_of_the_size_that_is_asked_for(size: tuple[int, int]) -> None:
    play = game.play_clip("environment_2", "jumping up", "Nika", 1)

    frames = game.render(play, game.clip_times(), size)

    assert frames.shape == (14, size[1], size[0], 3)
    assert frames.dtype == np.uint8


@pytest.mark.parametrize(
    ("one", "other"), [("evading left", "evading right"), ("evading forwards", "evading backwards"),
                       ("jumping up", "jumping down")],
)  # fmt: skip
def test_opposite_actions_of_one_seed_begin_alike_and_end_apart(one: str, other: str) -> None:
    first, second = clip(one), clip(other)

    assert np.array_equal(first[0], second[0])
    assert not np.array_equal(first[-1], second[-1])


def test_the_last_frame_of_one_direction_is_a_first_frame_of_its_opposite() -> None:
    """Wall and floor repeat, so that where something stands in one frame says nothing of where it
    came from."""
    spots: dict[str, list[float]] = {"evading left": [], "evading right": []}
    for name, found in spots.items():
        for seed in range(80):
            play = game.play_clip("environment_1", name, "Kulu", seed)
            end = game.states(play, game.clip_times())[-1]
            found.append((game.scene_of(play, (60, 36)).landmark_at[0] - float(end[game.X])) % 1)

    quarters = [np.histogram(found, 4, (0, 1))[0] for found in spots.values()]

    assert all(8 < count < 34 for counts in quarters for count in counts)


def test_every_action_begins_in_the_first_four_frames_and_is_over_before_the_last() -> None:
    for number, action in enumerate(game.ACTIONS * 4):
        turn = game.play_clip("environment_1", action, "Kulu", number).turns[0]

        assert 0 <= turn.onset * game.CLIP_FPS <= 3
        assert turn.onset + turn.duration < (game.CLIP_FRAMES - 1) / game.CLIP_FPS


def test_all_characters_differ_in_one_frame_and_wear_something_else_in_the_practice_rooms() -> None:
    frames = {name: clip("jumping up", character=name)[0].tobytes() for name in CHARACTERS}

    assert len(set(frames.values())) == len(CHARACTERS) == 13
    assert not set(SKINS["arena"].values()) & set(SKINS["practice"].values())


def test_every_environment_has_its_own_look_and_a_wrong_name_is_answered_with_the_right_ones() -> (
    None
):
    looks = {clip("jumping up", environment=place.name)[0].tobytes() for place in ENVIRONMENTS}

    assert len(looks) == len(ENVIRONMENTS) == 15
    with pytest.raises(KeyError, match="environment_1"):
        environment_named("environment_9")


def test_labels_are_drawn_evenly() -> None:
    labels = game.draw_labels(104, 5)

    assert {
        labels_of: [one for one, _ in labels].count(labels_of) for labels_of in game.ACTIONS
    } == dict.fromkeys(game.ACTIONS, 13)
    assert {name: [who for _, who in labels].count(name) for name in CHARACTERS} == dict.fromkeys(
        CHARACTERS, 8
    )


def test_state_and_controls_have_the_widths_of_the_released_data() -> None:
    play = game.play_clip("environment_1", "mounting hoverboard", "Cass", 0)
    times = game.clip_times()

    assert game.controls(play, times).shape == (14, 16)
    assert game.states(play, times).shape == (14, 56)
    assert game.states(play, times)[-1, game.RIDING] == 1

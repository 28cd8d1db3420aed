"""The contract of a world model: small enough to copy, and it says what an answer lacks."""

from __future__ import annotations

import ast
import inspect
import sys

import numpy as np
import pytest

from evaluators.contracts import robot_policy, world_model
from evaluators.contracts.world_model import (
    ForwardRequest,
    FunctionWorld,
    InpaintRequest,
    InverseRequest,
    WorldCard,
    WorldFault,
    fill_in,
    imagine,
    recover,
)

CARD = WorldCard("somebody's", "1", ("agent", "wrist"), 4, 6)
PAST = np.zeros((2, 3, 4, 6, 3), np.uint8)
ACTIONS = np.zeros((5, 7), np.float32)
REQUEST = ForwardRequest("start-1", 7, "the can", PAST, ACTIONS[:2], ACTIONS)


def answering(*frames: np.ndarray) -> FunctionWorld:
    return FunctionWorld(CARD, lambda _requests: frames)


@pytest.mark.parametrize("module", [world_model, robot_policy])
def test_the_contract_can_be_copied_since_it_imports_numpy_and_nothing_of_ours(module) -> None:  # type: ignore[no-untyped-def]
    tree = ast.parse(inspect.getsource(module))
    imported = {n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)}
    imported |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}

    outside = {name.split(".")[0] for name in imported} - set(sys.stdlib_module_names)

    assert outside == {"numpy"}


def test_an_answer_as_asked_for_is_taken() -> None:
    frames = np.full((2, 5, 4, 6, 3), 9, np.uint8)

    assert (imagine(answering(frames), [REQUEST])[0] == 9).all()


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ((), "0 arrays for 1 requests"),
        ((np.zeros((2, 4, 4, 6, 3), np.uint8),), r"asked was uint8 \(2, 5, 4, 6, 3\)"),
        ((np.zeros((2, 5, 4, 6, 3), np.float32),), "float32"),
    ],
)
def test_another_answer_is_refused_with_what_was_asked(
    frames: tuple[np.ndarray, ...], words: str
) -> None:
    with pytest.raises(WorldFault, match=words):
        imagine(answering(*frames), [REQUEST])


def test_recovered_actions_are_one_between_two_frames_and_finite() -> None:
    video = InverseRequest("start-1", 7, "the can", PAST)

    def world(actions: np.ndarray) -> FunctionWorld:
        return FunctionWorld(CARD, lambda _requests: (), lambda _requests: [actions])

    assert recover(world(ACTIONS[:2]), [video])[0].shape == (2, 7)
    with pytest.raises(WorldFault, match="not finite"):
        recover(world(np.full((2, 7), np.nan, np.float32)), [video])
    with pytest.raises(WorldFault, match="no inverse"):
        recover(answering(), [video])


def test_a_world_without_inpainting_says_so() -> None:
    request = InpaintRequest("start-1", 7, "", PAST, ACTIONS[:2], ACTIONS, 0, PAST[0])

    with pytest.raises(WorldFault, match="no inpainting"):
        fill_in(answering(), [request])


def test_units_of_u_are_raw_until_a_scale_is_given() -> None:
    assert CARD.action_space == "raw"
    assert WorldCard("w", "1", ("a",), 1, 1, action_scale=(0.5,) * 7).action_space == "normalised"

"""The small learned world model, and words drawn at a temperature."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from evaluators.models.adapt_nextframe import LearnedWorld, NextFrame, Watched, load, save, train
from evaluators.models.vlm import VlmJudge
from evaluators.worlds import arena


def watched(seed: int) -> Watched:
    play = arena.play_session("environment_1", "Kulu", ["evading left", "jumping up"], seed)
    times = np.arange(28) / arena.CLIP_FPS
    return Watched(arena.render(play, times, (48, 48)), arena.controls(play, times))


def test_a_learned_world_gets_better_with_training_and_gives_frames_of_the_size_it_was_shown() -> None:
    losses: list[float] = []

    world = train([watched(1)], steps=40, batch=16, ahead=1, told=lambda _step, loss: losses.append(loss))
    made = world.rollout(watched(3).frames[:10], watched(3).controls[10:], 6)

    assert np.mean(losses[-10:]) < 0.95 * np.mean(losses[:10])
    assert made.shape == (6, 48, 48, 3) and made.dtype == np.uint8


def test_the_controller_changes_what_a_world_model_makes() -> None:
    network = NextFrame()
    torch.nn.init.ones_(network.last.weight)
    world, first = LearnedWorld(network), watched(1).frames[:10]
    still, moved = np.zeros((4, 16)), np.ones((4, 16))

    assert not np.array_equal(world.rollout(first, still, 4), world.rollout(first, moved, 4))


def test_a_saved_world_makes_the_same_frames(tmp_path: Path) -> None:
    world, play = train([watched(1)], steps=2, batch=4), watched(2)

    again = load(save(world, tmp_path / "world"))

    assert np.array_equal(
        world.rollout(play.frames[:10], play.controls[10:], 8), again.rollout(play.frames[:10], play.controls[10:], 8)
    )


def test_drawn_words_depend_on_the_seed_only_and_temperature_0_is_greedy(paligemma: Path) -> None:
    judge = VlmJudge(paligemma, frames="uniform-2", limit=4)
    frames = watched(1).frames

    greedy = judge.tell(frames, ["What?", "Is the dog red?"])
    drawn = [judge.tell(frames, ["What?", "Is the dog red?"], 5.0, seed) for seed in (1, 1, 2)]

    assert drawn[0] == drawn[1] != drawn[2]
    assert judge.tell(frames, ["What?", "Is the dog red?"]) == greedy
    assert judge.tell(frames, ["What?", "Is the dog red?"], 1e-6, 3) == greedy

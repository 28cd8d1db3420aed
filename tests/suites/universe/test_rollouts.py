"""Rollouts: what a world model gets, what is cut and tagged, how answers are voted, and what PSNR and SSIM say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from evaluators.media import Pixels
from evaluators.metrics.structure import ssim
from evaluators.suites.universe.rollouts import (
    CONTEXT,
    GENERATED,
    SETTINGS,
    Chunk,
    RolloutGenerator,
    RolloutJudge,
    fidelity,
    keep,
    study_pairs,
    tagged,
)
from evaluators.worlds import arena
from evaluators.worlds.arena_models import Degraded, Simulator

SMALL = replace(SETTINGS[0], size=(100, 60))
GENERATOR = RolloutGenerator()


def chunks(dial: float, number: int = 0) -> list[Chunk]:
    play = GENERATOR.play(SMALL, number)
    return list(GENERATOR.chunks(Degraded(play, dial) if dial else Simulator(play), SMALL, number))


@pytest.fixture(scope="module")
def true() -> list[Chunk]:
    return chunks(0)


@dataclass
class Recorder:
    """A world model that notes what it is given and shows the last frame again."""

    name: str = "still"
    seen: tuple[int, int, int] = (0, 0, 0)

    def rollout(self, o_initial: Pixels, a_seq: arena.Floats, timesteps: int) -> Pixels:
        self.seen = (len(o_initial), len(a_seq), timesteps)
        return np.repeat(o_initial[-1:], timesteps, 0)


def test_there_are_eight_settings_one_home_six_unseen_and_one_small() -> None:
    assert [setting.environment for setting in SETTINGS] == [
        *(f"environment_{number}" for number in range(1, 8)), "environment_1",
    ]  # fmt: skip
    assert SETTINGS[7].size == (128, 128) and SETTINGS[7].small


def test_a_world_model_sees_a_second_and_makes_ten_in_chunks_of_fourteen_frames() -> None:
    model = Recorder()

    made = list(GENERATOR.chunks(model, SMALL, 0))

    assert model.seen == (CONTEXT, GENERATED, GENERATED) == (10, 100, 100)
    assert len(made) == 7
    assert all(chunk.frames.shape == (14, 60, 100, 3) for chunk in made)


def test_the_simulator_is_the_ceiling_and_the_dial_makes_it_worse(true: list[Chunk]) -> None:
    said = [fidelity(chunks(dial) if dial else true) for dial in (0.0, 0.3, 1.0)]

    middles = [np.mean([one[name] or 0 for one in found.values()]) for name in ("psnr", "ssim") for found in said]

    assert middles[0] == 100 and middles[0] > middles[1] > middles[2]
    assert middles[3] == 1 and middles[3] > middles[4] > middles[5]


def test_the_degraded_model_drifts_more_the_longer_it_goes() -> None:
    made = chunks(0.8)

    early, late = (fidelity([made[i]])[made[i].id]["psnr"] or 0 for i in (0, 6))

    assert late < early
    assert "appearance_drift" in made[6].tags


def test_a_dial_beyond_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="The dial is 2"):
        Degraded(GENERATOR.play(SMALL, 0), 2).rollout(np.zeros((1, 8, 8, 3), np.uint8), np.zeros((1, 16)), 1)


def test_a_chunk_without_input_or_without_its_player_is_dropped_and_a_flawed_one_kept(true: list[Chunk]) -> None:
    shown = next(chunk for chunk in true if chunk.tags == ())
    gone = np.zeros_like(shown.frames)

    assert tagged(shown.frames, shown.truth, None) == ("no_interaction",)
    assert "no_agent" in tagged(gone, shown.truth, shown.action)
    assert not replace(shown, tags=("no_agent",)).readable
    assert replace(shown, tags=("appearance_drift", "hud_occlusion")).readable


def test_kept_chunks_are_readable_and_come_from_different_rollouts_first(true: list[Chunk]) -> None:
    several = [replace(chunk, rollout=f"r{i % 3}", tags=() if i else ("occluded",)) for i, chunk in enumerate(true)]

    kept = keep(several, 3)

    assert len({chunk.rollout for chunk in kept}) == 3
    assert all(chunk.readable for chunk in kept)
    assert kept == keep(several, 3)


def test_the_study_asks_six_questions_a_chunk_one_of_them_yes_or_no_a_task(true: list[Chunk]) -> None:
    chunk = next(chunk for chunk in true if chunk.action)

    found = study_pairs(chunk)

    assert [pair.format for pair in found] == ["binary", "multiple_choice", "open_ended"] * 2
    assert found == study_pairs(chunk)
    assert study_pairs(replace(chunk, action=None)) == ()


def test_five_draws_are_voted_on_and_at_temperature_0_there_is_one(true: list[Chunk]) -> None:
    asked: list[tuple[float, int]] = []

    def ask(frames: Pixels, questions: Sequence[str], temperature: float = 0.0, seed: int = 0) -> list[str]:
        asked.append((temperature, seed))
        return ["Yes" if seed % 5 < 3 else "no"] * len(questions)

    vote = RolloutJudge(ask).evaluate(true[0], ["Is it?"])[0]
    greedy = RolloutJudge(ask, temperature=0).evaluate(true[0], ["Is it?"])[0]

    assert (vote.answer, vote.count) == ("yes", 3)
    assert asked == [(0.7, seed) for seed in range(5)] + [(0, 0)]
    assert greedy.count == 1


def test_an_answer_is_compared_with_what_the_controller_asked_for(true: list[Chunk]) -> None:
    chunk = next(chunk for chunk in true if chunk.action)

    def ask(frames: Pixels, questions: Sequence[str], temperature: float = 0.0, seed: int = 0) -> list[str]:
        return [chunk.action or ""] * len(questions)

    judge = RolloutJudge(ask)

    assert judge.evaluate_rollout(chunk, "action_recognition", "open_ended") is True
    assert judge.evaluate_rollout(chunk, "character_recognition", "open_ended") is False
    assert judge.evaluate_rollout(replace(chunk, action=None), "action_recognition", "open_ended") is None


def test_ssim_of_two_even_pictures_is_its_formula_and_it_falls_with_noise() -> None:
    grey, lighter = np.full((1, 9, 9, 3), 100, np.uint8), np.full((1, 9, 9, 3), 130, np.uint8)
    light = (0.01 * 255) ** 2
    noise = np.random.default_rng(0).integers(0, 40, (1, 9, 9, 3), dtype=np.uint8)

    assert ssim(reference=grey, generated=lighter) == pytest.approx((26000 + light) / (100**2 + 130**2 + light))
    assert (ssim(reference=grey, generated=grey + noise) or 1) < 0.5
    with pytest.raises(ValueError, match="at least 7 x 7"):
        ssim(reference=grey[:, :5], generated=grey[:, :5])

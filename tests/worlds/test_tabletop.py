"""The table in the robot simulator: starts, trial noise, truth, pictures, practice."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from evaluators.models.video_world.table_course import TableCourse
from evaluators.worlds.actions import Actions, BadActions, check_actions
from evaluators.worlds.tabletop import engine
from evaluators.worlds.tabletop.engine import NoSimulator, TableState, TableTruth
from evaluators.worlds.tabletop.episodes import RecordedEpisode, TableStage, record
from evaluators.worlds.tabletop.library import make_practice, read_practice
from evaluators.worlds.tabletop.planner import Errand, plan, seen
from evaluators.worlds.tabletop.practice import leaks, practise, without_leak
from evaluators.worlds.tabletop.starts import (
    BUSSING,
    DESTINATIONS,
    SWAPPED,
    TableStart,
    draw_start,
    parse,
    say,
)
from evaluators.worlds.tabletop.trials import NO_NOISE, TrialNoise, draw_trial
from evaluators.worlds.tabletop.views import VIEWS, shrink
from tests.worlds.stages import open_stage

START = draw_start("x7", BUSSING)
CLOSING = 5
"""Actions in which the fingers close."""
FIRST_FRAME = """
from hashlib import sha256
from evaluators.worlds.tabletop.episodes import TableStage
from evaluators.worlds.tabletop.starts import BUSSING, draw_start
stage = TableStage.open()
stage.table.set(draw_start("x7", BUSSING))
frames = stage.cameras.render()
stage.table.step(__import__("numpy").full(7, 0.5))
print(sha256(frames.tobytes()).hexdigest(), sha256(stage.table.data.qpos.tobytes()).hexdigest())
"""


def closings(actions: Actions) -> list[int]:
    """The steps at which the hand begins to close."""
    return [int(step) + 1 for step in np.flatnonzero(np.diff(actions[:, 6]) > 0)]


def fetched(stage: TableStage, start: TableStart, noise: TrialNoise = NO_NOISE) -> RecordedEpisode:
    errand = Errand(start.named, start.bin)
    return record(stage, start, noise, lambda state, _step: plan(seen(state), errand), every=200)


def test_the_same_name_is_the_same_start_and_a_secret_makes_another() -> None:
    assert draw_start("x7", BUSSING) == START
    assert draw_start("x7", BUSSING, "an operator's seed") != START
    assert draw_start("x2", BUSSING) != START


def test_swapped_bins_change_the_instruction_and_nothing_else() -> None:
    other = draw_start("x7", SWAPPED)

    assert replace(other, task=BUSSING) == START and other.instruction != START.instruction
    assert all(a != b for a, b in zip(DESTINATIONS[BUSSING], DESTINATIONS[SWAPPED], strict=True))


@pytest.mark.parametrize("named", range(4))
@pytest.mark.parametrize("to", range(4))
def test_an_instruction_says_which_object_goes_where(named: int, to: int) -> None:
    assert parse(say(named, to)) == (named, to)


def test_an_instruction_of_another_table_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="names no object and bin of this table"):
        parse("put the fork into the sink")


def test_trial_noise_has_its_own_chance() -> None:
    first, second = draw_trial("a"), draw_trial("b")
    action = np.full(7, 0.5)

    assert not np.allclose(first.actuated(action, 0), second.actuated(action, 0))
    assert not np.allclose(first.actuated(action, 0), first.actuated(action, 1))
    assert np.array_equal(first.actuated(action, 3), draw_trial("a").actuated(action, 3))
    assert np.array_equal(NO_NOISE.actuated(action, 0), action)
    assert first.actuated(action, 0)[6] == action[6]


def test_criteria_follow_the_object_that_was_tried_first() -> None:
    lifted = tuple(n == START.named for n in range(4))
    bins = tuple(START.bin if n == START.named else -1 for n in range(4))
    done = TableTruth(START.named, lifted, bins, -1)
    other = (START.named + 1) % 4

    assert done.outcome(START).object_placing
    assert not replace(done, held=START.named).outcome(START).object_placing
    wrong = replace(done, tried=other).outcome(START)
    assert not wrong.language_following and not wrong.object_lifting
    nothing = replace(done, tried=-1).outcome(START)
    assert not nothing.language_following and not nothing.object_placing


def test_an_object_that_is_fetched_and_brought_meets_every_criterion() -> None:
    episode = fetched(open_stage(), START)
    outcome = episode.truth.outcome(START)

    assert outcome.language_following and outcome.object_lifting and outcome.object_placing
    assert (START.named, START.bin) in episode.visited
    assert episode.proprioception.shape == (len(episode.actions) + 1, 8)


def test_a_grasp_that_missed_is_tried_again_and_then_holds() -> None:
    def beside_at_first(state: TableState, step: int) -> Actions:
        beside = (0.05, 0.0) if step < 40 else (0.0, 0.0)
        return plan(seen(state), Errand(START.named, START.bin, beside))

    episode = record(open_stage(), START, NO_NOISE, beside_at_first, every=200)

    replans = [step + CLOSING for step in closings(episode.actions)]
    held = [episode.states[step].held for step in replans]
    opened = [episode.actions[step, 6] < 0 for step in replans]
    assert held == [-1, -1, START.named], "two grasps miss, the third holds"
    assert opened == [True, True, False], "an empty hand is opened at once, a full one is not"
    assert episode.truth.lifted[START.named] and episode.truth.outcome(START).object_placing


def test_a_hand_that_never_closes_has_tried_nothing() -> None:
    stage = open_stage()
    rest = np.tile(np.array([0, 0, 0, 0, 0, 0, -1], np.float32), (25, 1))
    episode = record(stage, START, NO_NOISE, lambda _state, _step: rest, limit=16, every=200)

    assert episode.truth.tried == -1 and not any(episode.truth.lifted)
    assert np.abs(episode.states[-1].objects - episode.states[0].objects).max() < 0.002


def test_the_same_start_and_trial_are_the_same_bytes_and_another_trial_is_another_run() -> None:
    stage = open_stage()
    runs = [fetched(stage, START, draw_trial(name)) for name in ("a", "b", "a")]

    assert np.array_equal(runs[0].proprioception, runs[2].proprioception)
    assert np.array_equal(runs[0].frames, runs[2].frames)
    assert np.abs(runs[0].proprioception - runs[1].proprioception).max() > 0.005
    assert not np.array_equal(runs[0].frames[:2, 0], runs[1].frames[:2, 0])


def test_a_frictionless_table_lets_nothing_be_lifted() -> None:
    open_stage()
    slippery = TableStage.open(grasps=False)

    assert not any(fetched(slippery, START).truth.lifted)


def test_a_cold_start_draws_the_first_frame_and_takes_the_first_step_as_any_other(
    tmp_path: Path,
) -> None:
    stage = open_stage()
    stage.table.set(START)
    frames = stage.cameras.render()
    stage.table.step(np.full(7, 0.5))
    here = [
        sha256(frames.tobytes()).hexdigest(),
        sha256(stage.table.data.qpos.tobytes()).hexdigest(),
    ]
    fresh = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    cold = subprocess.run(
        [sys.executable, "-c", FIRST_FRAME], env=fresh, capture_output=True, text=True, check=True
    )

    assert cold.stdout.split() == here


def test_three_views_show_the_tray_the_bins_and_the_hand() -> None:
    stage = open_stage()
    stage.table.set(START)
    frames = stage.cameras.render()

    assert frames.shape == (len(VIEWS), 128, 128, 3) and frames.dtype == np.uint8
    assert all(view.std() > 25 for view in frames)
    can_red = (frames[0, ..., 0] > 180) & (frames[0, ..., 1] < 60)
    assert can_red.sum() > 20


def test_frames_are_shrunk_in_whole_blocks() -> None:
    frames = np.arange(4 * 4 * 3, dtype=np.uint8).reshape(4, 4, 3)

    assert shrink(frames, 2)[0, 0].tolist() == np.rint(frames[:2, :2].mean((0, 1))).tolist()
    with pytest.raises(ValueError, match="whole blocks"):
        shrink(frames, 3)


def test_practice_is_recorded_once_and_never_shows_the_swapped_bins(tmp_path: Path) -> None:
    open_stage()
    first = make_practice(["0003"], tmp_path)
    written = first[0].stat().st_mtime_ns
    clip = read_practice(make_practice(["0003"], tmp_path)[0])

    assert first[0].stat().st_mtime_ns == written
    assert clip.frames.shape == (3, len(clip.actions) + 1, 64, 64, 3) and clip.leaks == 0


def test_an_episode_with_swapped_bins_is_counted_as_a_leak() -> None:
    stage = open_stage()
    swapped = draw_start("x7", SWAPPED)
    told = fetched(stage, swapped)
    silent = replace(told, start=START)

    assert leaks([told]) == 1 and leaks([silent]) == 1
    assert leaks([practise("0003", stage, 16)]) == 0


def test_practice_in_which_an_object_falls_into_its_swapped_bin_is_drawn_again() -> None:
    stage = open_stage()
    swapped, sound = fetched(stage, draw_start("x7", SWAPPED)), practise("0003", stage, 16)
    drawn = {"odd": swapped, "odd+1": swapped, "odd+2": sound}

    assert without_leak("odd", drawn.__getitem__) is sound
    assert leaks([practise("0009", stage)]) == 0


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_practice_episode_shows_the_swapped_bins(tmp_path: Path) -> None:
    open_stage()
    names = TableCourse().names
    clips = [read_practice(path) for path in make_practice(names, tmp_path)]

    assert len(clips) == 192 and sum(clip.leaks for clip in clips) == 0


def test_actions_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(BadActions, match="step 1"):
        check_actions(np.array([[0.0] * 7, [float("nan")] * 7]))


def test_a_machine_without_the_simulator_is_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "robosuite", None)
    with pytest.raises(NoSimulator, match="make install"):
        engine.Tabletop()


def test_play_moves_the_hand_about_and_shows_no_swapped_bins(tmp_path: Path) -> None:
    open_stage()
    clip = read_practice(make_practice(["play-0003"], tmp_path)[0])

    assert clip.leaks == 0 and len(clip.actions) == 200
    assert (clip.hands[:, :3].max(0) - clip.hands[:, :3].min(0) > 0.08).all()
    assert clip.actions[:, 5].std() > 0.05 and len(set(clip.actions[:, 6])) == 2


def test_what_was_moved_for_a_moment_is_put_back() -> None:
    stage = open_stage()
    stage.table.set(START)
    before, upright = stage.table.state(), np.array((1.0, 0.0, 0.0, 0.0))
    place = np.array((0.1, 0.3, 0.9))

    with stage.table.arranged(lambda _state: {2: (place, upright)}, draw_trial("look")) as state:
        assert np.allclose(state.objects[2], place) and stage.table.noise.name == "look"

    assert np.allclose(stage.table.state().objects, before.objects, atol=1e-4)
    assert stage.table.noise == NO_NOISE

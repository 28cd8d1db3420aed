"""The game as an engine: the same order gives the same bytes, truth is what the game says, and
nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.worlds.doom import filming, truth
from evaluators.worlds.doom.engine import Engine, NoGame, running
from evaluators.worlds.doom.filming import GameTake, OtherPixels, digest
from evaluators.worlds.doom.places import (
    ACTIONS,
    CHARACTERS,
    FIRST_CHARACTER,
    HEIGHT,
    LIGHT,
    PER_CHARACTER,
    PIXELS,
    PLACES,
    STATES,
    X,
    place_named,
)
from evaluators.worlds.doom.players import PLAYERS, take_controls
from evaluators.worlds.doom.sessions import PlayedSession, SessionOrder

ORDER = SessionOrder("environment_1", 20, 3)


@pytest.fixture(scope="module")
def engine() -> Engine:  # type: ignore[misc]
    with running() as opened:
        yield opened


@pytest.fixture(scope="module")
def session(engine: Engine) -> PlayedSession:
    return engine.record(ORDER)


def standing(pixels: float = 2000, height: float = 60, light: float = 90) -> np.ndarray:
    """States of a clip in which an Imp is seen and nobody moves."""
    states = np.zeros((14, STATES), np.float32)
    column = FIRST_CHARACTER + PER_CHARACTER * list(CHARACTERS).index("Imp")
    states[:, column + PIXELS], states[:, column + HEIGHT] = pixels, height
    states[:, column + LIGHT] = light
    return states


def pressing(action: str) -> np.ndarray:
    controls = np.zeros((14, 9), np.float32)
    controls[3:7, ACTIONS[action]] = 1
    return controls


def test_the_same_order_gives_the_same_bytes_in_another_process_and_after_other_sessions(
    session: PlayedSession,
) -> None:
    with running() as other:
        other.record(replace(ORDER, seed=33))
        again = other.record(ORDER)

    assert len(session.frames) == 3
    assert np.array_equal(again.frames, session.frames)
    assert np.array_equal(again.states, session.states)


def test_the_first_takes_of_a_session_do_not_depend_on_how_many_follow(
    engine: Engine, session: PlayedSession
) -> None:
    shorter = engine.record(replace(ORDER, takes=2))

    assert np.array_equal(shorter.frames, session.frames[:2])


def test_a_picture_is_a_picture_of_the_game_and_not_a_blank(session: PlayedSession) -> None:
    assert session.frames.shape == (3, 14, 180, 300, 3)
    assert session.frames.std() > 10
    assert len(np.unique(session.frames[0, 0].reshape(-1, 3), axis=0)) > 50


def test_the_character_that_was_put_there_is_the_one_the_engine_labels(
    session: PlayedSession,
) -> None:
    pixels = session.states[..., FIRST_CHARACTER::PER_CHARACTER].sum((0, 1))

    assert list(CHARACTERS)[int(pixels.argmax())] == ORDER.character
    assert (pixels > 0).sum() == 1


def test_a_move_against_a_wall_is_no_action() -> None:
    assert truth.action_of(pressing("moving forwards"), standing()) is None


def test_a_move_that_carries_the_player_its_own_way_is_an_action_and_another_way_is_not() -> None:
    states = standing()
    states[-1, X] = 60

    assert truth.action_of(pressing("moving forwards"), states) == "moving forwards"
    assert truth.action_of(pressing("moving backwards"), states) is None
    assert truth.action_of(pressing("moving left"), states) is None


def test_two_buttons_are_no_action() -> None:
    states = standing()
    states[-1, X] = 60

    assert truth.action_of(pressing("moving forwards") + pressing("jumping"), states) is None


@pytest.mark.parametrize(
    "hidden", [{"pixels": 59}, {"height": 10}, {"light": 5}, {"pixels": 400, "height": 90}]
)
def test_a_small_dark_or_covered_character_is_not_there(hidden: dict[str, float]) -> None:
    assert truth.character_of(standing()) == "Imp"
    assert truth.character_of(standing(**hidden)) is None


def test_players_have_habits_of_their_own_and_all_do_everything() -> None:
    done = {
        player.name: Counter(
            name
            for controls in take_controls(player, np.random.default_rng(1), 400)
            for name, button in ACTIONS.items()
            if controls[:, button].any()
        )
        for player in PLAYERS
    }

    assert all(set(counts) == set(ACTIONS) for counts in done.values())
    assert done["gunner"]["shooting"] > 1.5 * done["walker"]["shooting"]
    assert done["walker"]["moving forwards"] > 1.5 * done["gunner"]["moving forwards"]


def test_there_are_eight_environments_and_a_wrong_name_is_answered_with_them() -> None:
    assert len(PLACES) == 8
    assert place_named("environment_8").size == (128, 128)
    with pytest.raises(KeyError, match="environment_7"):
        place_named("environment_9")


def test_a_clip_whose_pixels_differ_from_the_bank_is_refused(
    session: PlayedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_CLIPS", str(tmp_path))
    good = GameTake("environment_1", ORDER.seed, 0, digest(session.clip(0)))

    first, kept = good.frames(), good.frames()

    assert np.array_equal(first, session.clip(0)) and np.array_equal(kept, first)
    with pytest.raises(OtherPixels, match="comes out otherwise"):
        replace(good, sha256="0" * 64).frames()


def test_a_clip_that_comes_out_wrong_once_is_played_by_a_new_game(
    session: PlayedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_CLIPS", str(tmp_path))
    good = GameTake("environment_1", ORDER.seed, 0, digest(session.clip(0)))
    right, engines = GameTake.played, []

    def wrong_at_first(take: GameTake) -> PlayedSession:
        engines.append(filming.engine().process.pid)
        played = right(take)
        return replace(played, frames=255 - played.frames) if len(engines) == 1 else played

    monkeypatch.setattr(GameTake, "played", wrong_at_first)

    assert np.array_equal(good.frames(), session.clip(0))
    assert len(set(engines)) == 2


def test_a_game_that_ends_is_told_in_words() -> None:
    with running() as opened:
        os.killpg(opened.process.pid, signal.SIGKILL)
        with pytest.raises(NoGame, match="The game's process ended"):
            opened.record(ORDER)


def test_the_game_ends_with_a_parent_that_is_killed_and_leaves_its_folder_clean(
    tmp_path: Path,
) -> None:
    code = (
        "from evaluators.worlds.doom.engine import running\n"
        "from evaluators.worlds.doom.sessions import SessionOrder\n"
        "import time\n"
        "with running() as engine:\n"
        "    engine.record(SessionOrder('environment_1', 20, 1))\n"
        "    print(engine.process.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    here = Path(__file__).parents[2]
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(here)},
    )
    assert parent.stdout
    group = int(parent.stdout.readline())

    parent.kill()
    parent.wait()
    parent.stdout.close()

    for _ in range(100):
        if not _alive(group):
            break
        time.sleep(0.1)
    assert not _alive(group)
    assert list(tmp_path.iterdir()) == []


def _alive(group: int) -> bool:
    """Whether anything of a process group still runs."""
    listed = subprocess.run(["ps", "-eo", "pgid,stat"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()[1:]]
    return any(int(row[0]) == group and not row[1].startswith("Z") for row in rows)

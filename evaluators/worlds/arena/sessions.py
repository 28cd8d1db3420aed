"""Writes simulated sessions as a game would record them: a 60 fps video, a controller log and
metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evaluators.media import write_mp4
from evaluators.worlds.arena import game
from evaluators.worlds.arena.looks import CHARACTERS, environment_named

VIDEO, LOG, METADATA = "video.mp4", "controller.jsonl", "metadata.json"


def write_session(folder: Path, play: game.Play, size: tuple[int, int] = game.SIZE) -> Path:
    """One session folder; log and video carry game time, from which the clips are cut."""
    folder.mkdir(parents=True, exist_ok=True)
    times = np.arange(round(play.seconds * game.SESSION_FPS)) / game.SESSION_FPS
    write_mp4(game.render(play, times, size), folder / VIDEO, game.SESSION_FPS)
    (folder / LOG).write_text("".join(f"{json.dumps(row)}\n" for row in _log(play, times)), "utf-8")
    place = environment_named(play.environment)
    metadata = {
        "simulated": True,
        "environment": place.name,
        "environment_title": place.title,
        "character": play.character,
        "fps": game.SESSION_FPS,
        "frames": len(times),
        "video_begins": 0.0,
        "seed": play.seed,
    }
    (folder / METADATA).write_text(json.dumps(metadata, indent=1), "utf-8")
    return folder


def draw_sessions(
    environment: str, number: int, turns: int, seed: int, idle: float = 0.1
) -> Iterator[game.Play]:
    """So many sessions of so many turns: characters in turn, actions at random, some turns without
    input."""
    for i in range(number):
        rng = np.random.default_rng([seed, i, 11])
        actions = [
            None if rng.uniform() < idle else str(rng.choice(game.ACTIONS)) for _ in range(turns)
        ]
        character = CHARACTERS[(i + seed) % len(CHARACTERS)]
        yield game.play_session(environment, character, actions, 10_000 * seed + i)


def _log(play: game.Play, times: game.Floats) -> Iterator[dict[str, object]]:
    rows = zip(times, game.controls(play, times), game.states(play, times), strict=True)
    for time, buttons, state in rows:
        yield {
            "time": round(float(time), 6),
            "controls": buttons.tolist(),
            "state": np.round(state, 6).tolist(),
        }

"""Everything a world model of the game needs: starts with buttons, practice as a LeRobot data set,
and the contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from evaluators.contracts import Sample
from evaluators.suites.universe.boards.worlds.bank import BUTTONS_FILE, LEAD, hand_out
from evaluators.suites.universe.boards.worlds.rolling import VIEWS
from evaluators.suites.universe.boards.worlds.showings import resized
from evaluators.worlds.doom.engine import Engine, running
from evaluators.worlds.doom.places import AMMO, BUTTONS, FRAMES, PLACES, RATE
from evaluators.worlds.doom.sessions import SessionOrder
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.lerobot.practice import write_contract, write_practice

KIT, STARTS, PRACTICE = "kit.json", "starts", "practice"
PRACTICE_SEED = 60_000_000
"""Sessions of practice begin here, far below those of any bank."""
TAKES = 16
README = """# A kit of UNIVERSE's worlds

- `kit.json`: every start with its environment; `starts/<sample>/00.png` to `03.png` are the given
  frames, `starts/<sample>/{buttons_file}` float32 [{frames}, {count}] the buttons: row n leads to
  frame n of the rollout. Columns: {buttons}. Those of turning hold degrees a tic, the rest 0 or 1.
- A rollout is `<sample>.mp4` with the {frames} frames that follow, {rate:g} a second, in any size.
- `practice/`: {episodes} takes of recorded play of other sessions, a LeRobot data set (v3) in one
  size for all environments. The last row of an episode has a frame and no buttons of its own.
- `world_model.py`: what a world is asked and answers; needs numpy only.
- `example_world_server.py`: a world behind a URL in 60 lines; put your model into `forward`.

    armillary universe rollouts train WORLD --kit .
    armillary universe rollouts rollout OUT --world WORLD
    python example_world_server.py 8000
    armillary universe rollouts rollout OUT --world http://127.0.0.1:8000
"""


class GameKitExists(ValueError):
    """The folder holds a kit already."""


def write_game_kit(
    folder: Path,
    samples: Sequence[Sample],
    size: tuple[int, int],
    practice: int,
    on_part: Callable[[str], None] = lambda _part: None,
) -> Path:
    """The whole kit, practice in frames of `size` (width, height); `kit.json` is written last."""
    if (folder / KIT).exists():
        raise GameKitExists(f"{folder} holds a kit already. Write into another folder.")
    (folder / STARTS).mkdir(parents=True, exist_ok=True)
    for sample in samples:
        hand_out(sample, folder / STARTS)
        on_part("starts")
    with running() as engine:
        recorded = takes(engine, practice, size)
        count = write_practice(folder / PRACTICE, "game", RATE, recorded, on_part)
    write_contract(
        folder,
        views=json.dumps(list(VIEWS)),
        height=str(size[1]),
        width=str(size[0]),
        context=str(LEAD),
        chunk=str(FRAMES),
        action_dim=str(len(BUTTONS)),
    )
    words = README.format(
        buttons_file=BUTTONS_FILE,
        frames=FRAMES,
        count=len(BUTTONS),
        buttons=", ".join(BUTTONS),
        rate=RATE,
        episodes=count,
    )
    (folder / "README.md").write_text(words, "utf-8")
    content = {
        "suite": "universe_worlds",
        "views": list(VIEWS),
        "size": [size[1], size[0]],
        "rate": RATE,
        "buttons": list(BUTTONS),
        "practice_episodes": count,
        "starts": [{"sample": s.id, "environment": s.facets.scenario} for s in samples],
    }
    (folder / KIT).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return folder


def takes(engine: Engine, count: int, size: tuple[int, int]) -> Iterator[RobotEpisode]:
    """So many takes of recorded play, environment by environment in turn."""
    given, number = 0, 0
    while given < count:
        place = PLACES[number % len(PLACES)]
        wanted = min(TAKES, count - given)
        session = engine.record(SessionOrder(place.name, PRACTICE_SEED + number, wanted, LEAD))
        number += 1
        for frames, controls, states in zip(
            session.frames, session.controls, session.states, strict=True
        ):
            given += 1
            yield RobotEpisode(
                {VIEWS[0]: np.ascontiguousarray(resized(frames, size))},
                controls[:-1],
                states[:, : AMMO + 1],
                place.name,
            )

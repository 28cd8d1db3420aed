"""The process that plays: orders come as JSON lines, sessions go out as length and npz; the end of
its input ends the game."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import IO

import numpy as np

from evaluators.worlds.doom.engine import LENGTH
from evaluators.worlds.doom.places import place_named
from evaluators.worlds.doom.sessions import PlayedSession, SessionOrder, record_on
from evaluators.worlds.doom.stage import GameStage


def main() -> None:
    """Answer orders until there are no more; what the game prints is kept off the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    stages: dict[str, GameStage] = {}
    try:
        for line in sys.stdin:
            order = SessionOrder(**json.loads(line)["order"])
            if order.environment not in stages:
                stages[order.environment] = GameStage(place_named(order.environment))
            _send(answers, record_on(stages[order.environment], order))
    finally:
        for stage in stages.values():
            stage.close()


def _send(answers: IO[bytes], session: PlayedSession) -> None:
    file = io.BytesIO()
    np.savez(file, frames=session.frames, controls=session.controls, states=session.states)
    data = file.getvalue()
    answers.write(LENGTH.pack(len(data)))
    answers.write(data)
    answers.flush()


if __name__ == "__main__":
    main()

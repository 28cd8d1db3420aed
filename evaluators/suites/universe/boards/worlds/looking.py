"""What is kept of a handed-in rollout: its eight showings, which a judge votes over, and what the
game says of it by rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from evaluators.contracts import Json, Output, Part, Pieces, Question, Sample
from evaluators.media import Pixels, read_frames, write_mp4
from evaluators.suites.likeness import fidelity
from evaluators.suites.universe.boards.worlds.bank import PROMPT, start_of, take_of
from evaluators.suites.universe.boards.worlds.fidelity import fidelity_of
from evaluators.suites.universe.boards.worlds.probe import packaged_probe
from evaluators.suites.universe.boards.worlds.showings import SHOWINGS, resized
from evaluators.worlds.doom.places import FRAMES, RATE, place_named

Steps = Sequence[Mapping[str, Json]]
Keep = Callable[[Path], str]


def frames_of(sample: Sample, file: Path) -> Pixels:
    """A handed-in rollout in the size of its environment; ValueError if it is not one."""
    frames = read_frames(file)
    if len(frames) != FRAMES:
        raise ValueError(
            f"The rollout has {len(frames)} frames. Hand in the {FRAMES} that follow the given "
            "ones, and not those."
        )
    return resized(frames, place_named(take_of(sample).environment).size)


def measure(
    sample: Sample, file: Path, _steps: Steps, _folder: Path, _keep: Keep
) -> Mapping[str, Json]:
    """What the game says of a rollout: no judge is needed for it."""
    return {"value": measured(sample, frames_of(sample, file))}


def show_eight(
    sample: Sample, file: Path, _steps: Steps, folder: Path, keep: Keep
) -> Mapping[str, Json]:
    """The rollout as a judge is shown it, eight times, and what the game says of it."""
    frames = frames_of(sample, file)
    kept: dict[str, Json] = {
        name: keep(write_mp4(change(frames), folder / f"showing-{name}.mp4", RATE))
        for name, change in SHOWINGS.items()
    }
    return {"showings": kept, "value": measured(sample, frames)}


def measured(sample: Sample, frames: Pixels) -> dict[str, Json]:
    """Nearness to the true continuation, also to networks whose weights an operator names, and the
    action that the probe reads."""
    start = start_of(sample)
    read = packaged_probe().read(np.concatenate([start.context[-1:], frames]))
    by_networks = fidelity(real=start.truth[None], generated=frames[None])
    return {**asdict(fidelity_of(frames, start)), "read": read, **by_networks}


def parts(sample: Sample, output: Output) -> tuple[Part, ...]:
    """The eight showings; each is asked all questions of the rollout."""
    kept = output.record.get("showings")
    assert isinstance(kept, dict)
    return tuple(
        Part(name, str(kept[name]), "video/mp4", PROMPT, asked_of(sample, name))
        for name in SHOWINGS
    )


def asked_of(sample: Sample, showing: str) -> tuple[Question, ...]:
    """The questions about one showing; their ids begin with its name."""
    return tuple(replace(question, id=f"{showing}/{question.id}") for question in sample.questions)


JUDGED = Pieces(show_eight, parts)
MEASURED = Pieces(measure, lambda _sample, _output: ())

"""L-IVA's exam for judges: clips of known actions, with captions that fit and that do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from evaluators.judges.exam.exam import Exam, ExamItem, opaque_id
from evaluators.judges.exam.files import write_clip
from evaluators.media import Pixels
from evaluators.suites.liva.bank import ALIGNED
from evaluators.suites.liva.exam.actions import ACTIONS, StagedAction
from evaluators.suites.liva.exam.stage import stage

FRAMES = 16
SHOWS, SHOWS_NOT = ALIGNED.options
VERSIONS = (0, 1)


@dataclass(frozen=True, slots=True)
class Look:
    """Where an action is filmed: the room, the middle of the stage, something at the edge."""

    room: str
    middle: int
    shape: str
    colour: str
    place: int


LOOKS = (
    Look("kitchen", 396, "plant", "leaf", 62),
    Look("workshop", 436, "tin", "gold", 770),
    Look("garden", 404, "flowerpot", "brown", 764),
    Look("office", 428, "notebook", "grey", 66),
    Look("laundry", 412, "vase", "pink", 772),
)


@cache
def items() -> tuple[ExamItem, ...]:
    """Every item, in an order that tells nothing."""
    listed = [item for number, action in enumerate(ACTIONS) for item in _items(action, number)]
    return tuple(sorted(listed, key=lambda item: item.id))


def write(item: ExamItem, folder: Path) -> Path:
    """Draw an item's clip into a folder."""
    return write_clip(draw(item), folder / f"{item.id}.mp4")


def draw(item: ExamItem) -> Pixels:
    """The frames of an item's clip."""
    action = next(action for action in ACTIONS if action.name == item.scene["action"])
    look = next(look for look in LOOKS if look.room == item.scene["room"])
    first = item.scene["version"] == 0
    return np.stack([frame(action, look, first, number / (FRAMES - 1)) for number in range(FRAMES)])


def frame(action: StagedAction, look: Look, first: bool, time: float) -> Pixels:
    """One frame of one version of an action, at a time from 0 to 1."""
    sheet = stage(look.room, action.lit(time, first) if action.lit else 1.0)
    sheet.prop(look.shape, look.colour, look.place)
    action.act(sheet, time, first, look.middle)
    return sheet.pixels()


def _items(action: StagedAction, number: int) -> Iterator[ExamItem]:
    """Both versions in two rooms, each with both captions: words or clips alone are chance."""
    for look in (LOOKS[number % len(LOOKS)], LOOKS[(number + 2) % len(LOOKS)]):
        for version in VERSIONS:
            for caption in VERSIONS:
                yield ExamItem(
                    id=opaque_id("liva", action.name, look.room, version, caption),
                    cluster=opaque_id("liva", action.name, look.room, version),
                    modality="video",
                    prompt=action.captions[caption],
                    questions=(ALIGNED,),
                    answers={ALIGNED.id: SHOWS if version == caption else SHOWS_NOT},
                    scene={"action": action.name, "room": look.room, "version": version},
                )


EXAM = Exam(version="1", menu=ALIGNED.options, items=items, write=write)

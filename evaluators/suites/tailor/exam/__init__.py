"""TailOR's exam for judges: drawings and photographs with known content, in the suite's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from evaluators.judges.exam.exam import HIGH, LOW, Exam, ExamItem, opaque_id
from evaluators.judges.exam.files import write_clip, write_picture
from evaluators.media import Pixels
from evaluators.suites.tailor.bank import RATINGS, YES_NO
from evaluators.suites.tailor.exam.clips import CLIPS
from evaluators.suites.tailor.exam.design import LETTERS, TABLE, Family, facts
from evaluators.suites.tailor.exam.photographs import PHOTOGRAPHS
from evaluators.suites.tailor.exam.pictures import PICTURES
from evaluators.suites.tailor.exam.twins import Twin, twins
from evaluators.suites.tailor.sanity import yardsticks

FAMILIES = (*PICTURES, PHOTOGRAPHS, *CLIPS)
SPARED = ("First frame, held still (clip)", "Frames in another order (clip)")
"""Rows with the right things in the picture: much of their checklists is rightly met."""


@cache
def items() -> tuple[ExamItem, ...]:
    """Every item, in an order that tells nothing."""
    listed = [
        *(item for family in FAMILIES for item in _checklists(family)),
        *(item for twin in twins() for item in _pair(twin)),
    ]
    return tuple(sorted(listed, key=lambda item: item.id))


def write(item: ExamItem, folder: Path) -> Path:
    """Draw an item's picture or clip into a folder."""
    frames = draw(item)
    if item.modality == "image":
        return write_picture(frames[0], folder / f"{item.id}.png")
    return write_clip(frames, folder / f"{item.id}.mp4")


def draw(item: ExamItem) -> Pixels:
    """The frames of an item; a picture has one."""
    name, row = str(item.scene["name"]), str(item.scene["row"])
    random = np.random.default_rng(
        int.from_bytes(sha256(str(item.scene["look"]).encode()).digest()[:8])
    )
    if item.twin:
        return next(twin for twin in twins() if twin.name == name).draw(row == HIGH, random)
    return next(family for family in FAMILIES if family.name == name).draw(facts(row), random)


def _checklists(family: Family) -> Iterator[ExamItem]:
    for number, row in enumerate(TABLE):
        name = opaque_id("tailor", family.name, number)
        answers = {
            question.id: LETTERS[letter]
            for question, letter in zip(family.questions, row, strict=True)
        }
        scene = {"name": family.name, "row": row, "look": f"{family.name} {number}"}
        yield ExamItem(name, name, family.modality, family.prompt, family.questions, answers, scene)


def _pair(twin: Twin) -> Iterator[ExamItem]:
    question = next(question for question in RATINGS if question.id == twin.rating)
    key = opaque_id("tailor", twin.rating, twin.name)
    for side in (HIGH, LOW):
        scene = {"name": twin.name, "row": side, "look": f"{twin.rating} {twin.name}"}
        item = ExamItem(
            key, key, twin.modality, twin.prompt, (question,), {question.id: side}, scene, twin=key
        )
        yield replace(item, id=opaque_id("tailor", twin.rating, twin.name, side))


EXAM = Exam(
    version="1",
    menu=YES_NO,
    items=items,
    write=write,
    must_lose=tuple(row.title for row in yardsticks() if row.title not in SPARED),
)

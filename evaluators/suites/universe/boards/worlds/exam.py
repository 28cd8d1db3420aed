"""The exam of this board's judges: true clips of the game in all eight showings, with yes/no
questions about what is done and who is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from evaluators.contracts import Question
from evaluators.judges.exam.exam import Exam, ExamItem, opaque_id
from evaluators.judges.exam.files import write_clip
from evaluators.media import Pixels, read_frames, write_mp4
from evaluators.suites.universe.bank_making import BankRow
from evaluators.suites.universe.boards.worlds.bank import PROMPT, subject_of
from evaluators.suites.universe.boards.worlds.showings import SHOWINGS, resized
from evaluators.suites.universe.boards.worlds.yardsticks import FROZEN, GREY, NOISE
from evaluators.suites.universe.questions import BINARY, NO, TASKS, YES
from evaluators.worlds.doom.places import RATE

FOLDER = Path(__file__).parent / "data" / "exam"
LIST = FOLDER / "clips.json"
PER_ENVIRONMENT = 8
SIZE = (200, 120)
"""Width and height of the kept clips; the game need not be there when a judge is examined."""
KEPT_CRF = 26


@cache
def items() -> tuple[ExamItem, ...]:
    """Every clip in one showing, with a question about the action and one about the character;
    half of each are to be answered with yes."""
    listed = json.loads(LIST.read_text("utf-8"))
    return tuple(sorted((_item(number, row) for number, row in enumerate(listed)), key=_by_id))


def write(item: ExamItem, folder: Path) -> Path:
    """The clip in its showing."""
    return write_clip(draw(item), folder / f"{item.id}.mp4")


def draw(item: ExamItem) -> Pixels:
    """The frames that a judge is shown."""
    frames = read_frames(FOLDER / f"{item.scene['clip']}.mp4")
    return SHOWINGS[str(item.scene["showing"])](frames)


def _by_id(item: ExamItem) -> str:
    return item.id


def _item(number: int, row: dict[str, str]) -> ExamItem:
    showing = list(SHOWINGS)[(number + number // len(SHOWINGS)) % len(SHOWINGS)]
    questions = tuple(
        Question(
            subject_of(task),
            BINARY[task].format(label=row[f"asks_{subject_of(task)}"]),
            "yes_no",
            options=(YES, NO),
        )
        for task in TASKS
    )
    answers = {
        name: YES if row[name] == row[f"asks_{name}"] else NO
        for name in (subject_of(task) for task in TASKS)
    }
    return ExamItem(
        id=opaque_id("universe_worlds", row["clip"]),
        cluster=row["clip"],
        modality="video",
        prompt=PROMPT,
        questions=questions,
        answers=answers,
        scene={"clip": row["clip"], "showing": showing, "environment": row["environment"]},
    )


def keep_exam(rows: Sequence[tuple[BankRow, Pixels]], folder: Path = FOLDER) -> int:
    """Write the clips of an exam, in its own size, and the list of what is asked about them."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for row, frames in rows:
        name = row.id[:8]
        write_mp4(resized(frames, SIZE), folder / f"{name}.mp4", RATE, crf=KEPT_CRF)
        listed.append(
            {
                "clip": name,
                "environment": row.clip.environment,
                "action": row.action,
                "character": row.character,
                "asks_action": row.asks_action,
                "asks_character": row.asks_character,
            }
        )
    (folder / LIST.name).write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    return len(listed)


EXAM = Exam(
    version="1",
    menu=(YES, NO),
    items=items,
    write=write,
    must_lose=(FROZEN, NOISE, GREY),
)

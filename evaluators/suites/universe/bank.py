"""What judges of rollouts are asked here: clips of recorded play in eight environments, with
questions whose truth the game knows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluators.contracts import Facets, Json, Sample
from evaluators.media import Pixels, write_png
from evaluators.suites.universe.bank_making import BankRow
from evaluators.suites.universe.questions import (
    BINARY,
    NO,
    OPEN,
    TASKS,
    YES,
    AnswerSpace,
    Task,
    multiple_choice,
)
from evaluators.suites.universe.segments import read_segment
from evaluators.worlds.doom.filming import GameTake
from evaluators.worlds.doom.places import ACTIONS, CHARACTERS, HOME

SPACE = AnswerSpace(tuple(sorted(ACTIONS)), tuple(sorted(CHARACTERS)))
FILE = Path(__file__).parent / "data" / "clips.jsonl"
FIRST_SEED = 900_000_000
"""No session that anything here is trained on has a seed from here up."""
PRIVATE = "private."
DEMO_CLIPS = 4


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question of a bank, with its answer."""

    task: Task
    format: str
    text: str
    answer: str


@cache
def samples() -> tuple[Sample, ...]:
    """Every question about every clip of the open bank."""
    return tuple(sample for row in read_rows(FILE) for sample in samples_of(row))


def private_samples(folder: Path) -> tuple[Sample, ...]:
    """An operator's own clips, as `armillary universe private-bank` wrote them."""
    path = folder / FILE.name
    if not path.is_file():
        raise ValueError(
            f"{folder} has no {FILE.name}. Make it with `armillary universe private-bank`."
        )
    return tuple(sample for row in read_rows(path) for sample in samples_of(row, PRIVATE))


def clip_of(sample: Sample) -> GameTake:
    """The clip a sample asks about."""
    clip = sample.reference["clip"]
    assert isinstance(clip, dict)
    seed, take = (int(str(clip[name])) for name in ("seed", "take"))
    return GameTake(str(clip["environment"]), seed, take, str(clip["sha256"]))


def frames_of(sample: Sample) -> Pixels:
    """The frames a sample asks about: of recorded play, or of a lab's own segment."""
    if "segment" in sample.reference:
        folder = Path(str(sample.reference["folder"]))
        return read_segment(folder, str(sample.reference["segment"])).frames
    return clip_of(sample).frames()


def hand_out(sample: Sample, folder: Path) -> str:
    """Write a clip's frames as pictures, once, and name their folder."""
    place = folder / sample.cluster
    if not place.is_dir():
        frames = frames_of(sample)
        place.mkdir(parents=True)
        for number, frame in enumerate(frames):
            write_png(frame, place / f"{number:02d}.png")
    return sample.cluster


def questions_of(row: BankRow) -> Iterator[AskedQuestion]:
    """Two yes/no questions, or one with a menu and an open one of each task."""
    labels: dict[Task, tuple[str, str]] = {
        "action_recognition": (row.action, row.asks_action),
        "character_recognition": (row.character, row.asks_character),
    }
    for task in TASKS:
        label, asked = labels[task]
        if row.binary:
            says = YES if asked == label else NO
            yield AskedQuestion(task, "binary", BINARY[task].format(label=asked), says)
        else:
            menu = multiple_choice(task, SPACE.of(task))
            yield AskedQuestion(task, "multiple_choice", menu, label)
            yield AskedQuestion(task, "open_ended", OPEN[task], label)


def samples_of(row: BankRow, prefix: str = "") -> Iterator[Sample]:
    """The samples of a clip; the clip is what belongs together in an interval."""
    clip: dict[str, Json] = {
        "environment": row.clip.environment,
        "seed": row.clip.seed,
        "take": row.clip.take,
        "sha256": row.clip.sha256,
    }
    for number, question in enumerate(questions_of(row), 1):
        yield Sample(
            id=f"{prefix}{row.id}.{number}",
            facets=Facets(row.clip.environment, question.task, question.format, "text"),
            cluster=f"{prefix}{row.id}",
            prompt=question.text,
            reference={"answer": question.answer, "format": question.format, "clip": clip},
        )


def write_rows(path: Path, rows: Iterable[BankRow]) -> Path:
    """A bank as a file, a line a clip."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(_line(row))}\n" for row in rows), "utf-8")
    return path


def read_rows(path: Path) -> Iterator[BankRow]:
    """A bank from its file."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        clip = GameTake(row["environment"], row["seed"], row["take"], row["sha256"])
        yield BankRow(
            row["id"],
            clip,
            row["action"],
            row["character"],
            row["asks_action"],
            row["asks_character"],
        )


def in_full(_sample: Sample) -> bool:
    """Everything."""
    return True


def in_demo(sample: Sample) -> bool:
    """A few clips of the adaptation environment: enough to see the whole path, too few to rank
    anybody by."""
    return sample.cluster in _demo_clips()


def in_home(sample: Sample) -> bool:
    """The adaptation environment alone, as in the paper's own tables."""
    return sample.facets.scenario == HOME


@cache
def _demo_clips() -> frozenset[str]:
    """The first clips with yes/no questions and as many without."""
    home = [row for row in read_rows(FILE) if row.clip.environment == HOME]
    halves = ([row.id for row in home if row.binary is kind] for kind in (True, False))
    return frozenset(name for half in halves for name in half[:DEMO_CLIPS])


def _line(row: BankRow) -> dict[str, Json]:
    return {
        "id": row.id,
        "environment": row.clip.environment,
        "seed": row.clip.seed,
        "take": row.clip.take,
        "sha256": row.clip.sha256,
        "action": row.action,
        "character": row.character,
        "asks_action": row.asks_action,
        "asks_character": row.asks_character,
    }

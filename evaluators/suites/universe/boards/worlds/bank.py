"""What world models are asked here: four frames of recorded play and buttons, to be continued by
fourteen frames; the game knows what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluators.contracts import Facets, Json, Question, Sample
from evaluators.media import Pixels, write_png
from evaluators.suites.universe.bank import FIRST_SEED, SPACE, read_rows
from evaluators.suites.universe.bank_making import (
    STRIDE,
    BankRow,
    ask_half,
    choose,
    deranged,
)
from evaluators.suites.universe.questions import (
    BINARY,
    DESCRIPTION,
    NO,
    TASKS,
    YES,
    Task,
    multiple_choice,
)
from evaluators.worlds.doom.filming import GameTake, digest
from evaluators.worlds.doom.places import FRAMES, PLACES
from evaluators.worlds.doom.sessions import PlayedSession, SessionOrder

LEAD = 4
"""Frames that a world is given; during them nothing is pressed."""
FILE = Path(__file__).parent / "data" / "rollouts.jsonl"
FIRST_ROLLOUT_SEED = FIRST_SEED + 50_000_000
PER_ENVIRONMENT = 16
TAKES = 8
"""Takes of a session that are looked at; a late one costs the play of all before it."""
PROMPT = DESCRIPTION
BUTTONS_FILE = "buttons.npy"
YES_NO, CHOICE = "yes_no", "choice"


@dataclass(frozen=True, slots=True)
class RolloutStart:
    """What a world is given, and what really follows: frames [4 and 14, height, width, RGB], and
    the buttons that lead to each of the fourteen [14, numbers], nothing being pressed before."""

    context: Pixels
    buttons: NDArray[np.float32]
    truth: Pixels


@cache
def rows() -> tuple[BankRow, ...]:
    """The open bank."""
    return tuple(replace(row, clip=replace(row.clip, lead=LEAD)) for row in read_rows(FILE))


@cache
def samples() -> tuple[Sample, ...]:
    """One rollout each."""
    return tuple(sample_of(row) for row in rows())


def sample_of(row: BankRow) -> Sample:
    """A start; rollouts of one session belong together in an interval."""
    clip: dict[str, Json] = {
        "environment": row.clip.environment,
        "seed": row.clip.seed,
        "take": row.clip.take,
        "sha256": row.clip.sha256,
    }
    labels: dict[str, Json] = {"action": row.action, "character": row.character}
    wrong: dict[str, Json] = {"action": row.asks_action, "character": row.asks_character}
    return Sample(
        id=row.id,
        facets=Facets(
            row.clip.environment,
            row.action.replace(" ", "_"),
            YES_NO if row.binary else CHOICE,
            "video",
        ),
        cluster=f"{row.clip.environment}.{row.clip.seed}",
        prompt=PROMPT,
        questions=questions_of(row),
        reference={"clip": clip, "labels": labels, "wrong": wrong},
    )


def questions_of(row: BankRow) -> tuple[Question, ...]:
    """Of each task a menu, or two yes/no questions, one of them to be answered with yes: who
    always answers the same is wrong about one of the two."""
    labels: dict[Task, tuple[str, str]] = {
        "action_recognition": (row.action, row.asks_action),
        "character_recognition": (row.character, row.asks_character),
    }
    asked: list[Question] = []
    for task in TASKS:
        subject = subject_of(task)
        if row.binary:
            asked += [
                Question(
                    f"{subject}.{number}",
                    BINARY[task].format(label=label),
                    "yes_no",
                    options=(YES, NO),
                )
                for number, label in enumerate(sorted(labels[task]), 1)
            ]
        else:
            menu = SPACE.of(task)
            asked.append(Question(subject, multiple_choice(task, menu), "choice", options=menu))
    return tuple(asked)


def subject_of(task: str) -> str:
    """What a task is about: `action` or `character`."""
    return task.removesuffix("_recognition")


def take_of(sample: Sample) -> GameTake:
    """The take that a sample begins."""
    clip = sample.reference["clip"]
    assert isinstance(clip, dict)
    seed, take = (int(str(clip[name])) for name in ("seed", "take"))
    return GameTake(str(clip["environment"]), seed, take, str(clip["sha256"]), LEAD)


def buttons_of(sample: Sample) -> NDArray[np.float32]:
    """The buttons before each of the fourteen frames; nothing is played for them."""
    return take_of(sample).controls()[LEAD - 1 : LEAD - 1 + FRAMES]


def start_of(sample: Sample) -> RolloutStart:
    """What a world is given and what really follows; played on this machine and kept by hash."""
    frames = take_of(sample).frames()
    return RolloutStart(frames[:LEAD], buttons_of(sample), frames[LEAD:])


def hand_out(sample: Sample, folder: Path) -> str:
    """Write a start's frames and buttons, and name their folder; nothing of what follows."""
    place = folder / sample.id
    if not (place / BUTTONS_FILE).is_file():
        start = start_of(sample)
        place.mkdir(parents=True, exist_ok=True)
        for number, frame in enumerate(start.context):
            write_png(frame, place / f"{number:02d}.png")
        np.save(place / BUTTONS_FILE, start.buttons)
    return sample.id


def make_rollout_bank(
    record: Callable[[SessionOrder], PlayedSession],
    seed: int = FIRST_ROLLOUT_SEED,
    count: int = PER_ENVIRONMENT,
    report: Callable[[str], None] = lambda _environment: None,
) -> tuple[BankRow, ...]:
    """Starts of all environments, every action as often as any other; half of them get pairs of
    yes/no questions."""
    whole: dict[tuple[int, int], str] = {}

    def with_lead(order: SessionOrder) -> PlayedSession:
        session = record(replace(order, takes=TAKES, lead=LEAD))
        for take, frames in enumerate(session.frames):
            whole[order.seed, take] = digest(frames)
        return session

    bank: list[BankRow] = []
    for number, place in enumerate(PLACES):
        clips = choose(with_lead, place.name, count, seed + number * STRIDE)
        hashed = [
            replace(row, clip=replace(row.clip, sha256=whole[row.clip.seed, row.clip.take]))
            for row in clips
        ]
        bank += _with_pairs(hashed, seed + number)
        report(place.name)
    return tuple(sorted(bank, key=lambda row: row.id))


def _with_pairs(clips: list[BankRow], seed: int) -> list[BankRow]:
    """Every second clip of each action gets a wrong label of each task; wrong labels are as
    frequent as the same labels are where they are right."""
    return ask_half(clips, np.random.default_rng([seed % 2**32, 43]), _wrong)


def _wrong(labels: Sequence[str], rng: np.random.Generator) -> list[str]:
    while True:
        wrong = deranged(labels, labels, rng)
        if wrong is not None:
            return wrong


def in_full(_sample: Sample) -> bool:
    """Everything."""
    return True


def in_demo(sample: Sample) -> bool:
    """One start of each environment: enough to see the whole path, too few to rank anybody by."""
    return sample.id in _demo_ids()


@cache
def _demo_ids() -> frozenset[str]:
    """One start of each environment with another action each, menus and pairs in turn; an early
    take, which is quickly played."""
    chosen: list[BankRow] = []
    for number, place in enumerate(PLACES):
        taken = {row.action for row in chosen}
        fitting = (
            row
            for row in rows()
            if row.clip.environment == place.name
            and row.binary is (number % 2 == 0)
            and row.action not in taken
        )
        chosen.append(min(fitting, key=lambda row: (row.clip.take, row.id)))
    return frozenset(row.id for row in chosen)

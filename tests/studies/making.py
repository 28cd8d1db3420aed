"""Studies for the tests: four protocols on small drawn media, and raters who answer by rule."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.media import write_mp4, write_png
from flows.studies import create, items
from flows.workers.executor import prepare
from infra.db import session
from infra.settings import Settings
from infra.tables.study import Rater
from leaderboard.studies import desk
from leaderboard.studies.forms import UNABLE, Form, FormQuestion
from tests.boards import stock

SECRET_NAMES = ("Glassbead-7B", "Northwind-XL", "Team Petrel")
QUESTIONS = [
    {"id": "c1", "text": "Is the nail in the wood?", "kind": "yes_no"},
    {"id": "c2", "text": "Does the shoe touch the nail?", "kind": "yes_no"},
    {"id": "physical_realism", "text": "How real is it?", "kind": "rating"},
]


def board(home: Path) -> Settings:
    """An empty board with its suites."""
    settings = Settings(home=home)
    prepare(settings)
    return stock(settings)


def items_file(folder: Path, protocol: str, count: int) -> Path:
    """A file of items with pictures or clips beside it; the makers' names are in file names and
    `behind`."""
    lines = []
    for number in range(count):
        maker = SECRET_NAMES[number % 2]
        lines.append(_item(folder, protocol, number, maker))
    path = folder / f"{protocol}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def _item(folder: Path, protocol: str, number: int, maker: str) -> dict[str, Any]:
    behind: dict[str, Any] = {
        "methods": {"A": maker},
        "sample": f"s{number}",
        "teams": [SECRET_NAMES[2]],
    }
    if protocol == "tailor":
        media = [write_png(_noise(number), folder / f"{maker}-{number}.png").name]
        return {
            "prompt": "A shoe drives a nail.",
            "questions": QUESTIONS,
            "media": media,
            "behind": behind,
        }
    if protocol == "universe":
        clip = _clip(folder, maker, number)
        return {
            "question": "What does it do?",
            "answer": "It jumps.",
            "media": [clip],
            "behind": behind,
        }
    if protocol == "universe_worlds":
        return {
            "action": "turning left",
            "character": "Imp",
            "media": [_clip(folder, maker, number)],
            "behind": behind,
        }
    if protocol == "sc3":
        clips = [_clip(folder, f"{maker}-view{view}", number) for view in range(2)]
        return {
            "instruction": "Clear the table.",
            "objects": ["cup", "plate"],
            "media": clips,
            "behind": behind,
        }
    clips = [_clip(folder, name, number) for name in SECRET_NAMES[:2]]
    behind = {
        "methods": dict(zip("AB", SECRET_NAMES[:2], strict=True)),
        "sample": f"s{number}",
        "subgoals": 2,
    }
    return {
        "intention": "Make tea.",
        "subgoals": ["water boils", "cup is full"],
        "media": clips,
        "behind": behind,
    }


def _noise(seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 255, (24, 32, 3), dtype=np.uint8)


def _clip(folder: Path, maker: str, number: int) -> str:
    frames = [_noise(1000 * number + frame) for frame in range(6)]
    return write_mp4(frames, folder / f"{maker}-{number}.mp4", 6).name


def opened(
    settings: Settings, folder: Path, protocol: str, count: int, raters: int, each: int = 3
) -> list[str]:
    """A study that is open; the raters' keys."""
    plan = create.StudyPlan(
        protocol,
        protocol,
        protocol,
        f"Study of {protocol}",
        raters_per_item=each,
        minutes=30,
        seed=3,
    )
    create.create(settings, plan, items.items_of_file(items_file(folder, protocol, count)))
    keys = create.invite(settings, protocol, raters)
    if protocol == "universe":
        keys += create.invite(settings, protocol, 1, role="adjudicator")
    create.move(settings, protocol, "open")
    return keys


Answering = Callable[[FormQuestion, Form], Any]


def by_reading(ask: FormQuestion, form: Form) -> Any:
    """Somebody who reads: the last answer where the text asks for it, else by what is shown."""
    if "checks that you read" in form.text and ask.kind != "watched":
        return ask.options[-1] if ask.options else None
    if form.media and ask.kind in ("choice", "scale") and "Answer:" not in form.text:
        return ask.options[int(form.media[0].blob, 16) % len(ask.options)]
    return by_letter(ask, form)


def by_letter(ask: FormQuestion, form: Form) -> Any:
    if ask.kind == "watched":
        return True
    if ask.kind == "tick":
        return ask.id != UNABLE
    if ask.kind == "letter":
        return ask.options[0] if ask.id == "best" else ask.options[1]
    return ask.options[0]


def by_chance(seed: int) -> Answering:
    """Somebody who clicks."""
    dice = random.Random(seed)

    def answer(ask: FormQuestion, form: Form) -> Any:
        if ask.kind == "tick":
            return ask.id != UNABLE and dice.random() < 0.5
        if ask.kind in ("letter", "watched"):
            return by_letter(ask, form)
        return dice.choice(ask.options)

    return answer


def rate(settings: Settings, key: str, answer: Answering, most: int = 10_000) -> int:
    """Sit at the desk until nothing is left; how many were handed in."""
    done = 0
    while done < most:
        with session(settings.database) as db:
            rater = desk.come_in(db, key)
            assert isinstance(rater, Rater)
            turn = desk.next_turn(db, rater)
        if turn is None:
            break
        answers = {ask.id: answer(ask, turn.form) for ask in turn.form.asks}
        given = {name: value for name, value in answers.items() if value is not None}
        with session(settings.database) as db:
            assert desk.hand_in(db, rater, turn.item_id, given) == []
        done += 1
    return done

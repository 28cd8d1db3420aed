"""People who read and settle a task of the open bank, one deed at a time, for tests."""

from __future__ import annotations

from typing import Any

from flows.suites.tailor_reading import open_review
from infra.db import session
from infra.settings import Settings
from leaderboard.queries.bank import reading, review
from leaderboard.queries.bank.review import FaultPlace, TaskStanding

TASK = "cut_garden_twine"
PROMPT = f"{TASK}.3.predictive.image"
PEOPLE = ("ada", "grace", "linus")
LEAK = FaultPlace(f"{TASK}.3", "", "leak")
SAME_LEAK = FaultPlace(PROMPT, "predictive_image_prompt", "leak")
PHYSICS = FaultPlace(TASK, "", "physics")


def opened_for_three(settings: Settings) -> Settings:
    """The home with a review of one task, open for three people."""
    open_review(settings, [TASK], PEOPLE)
    return settings


def does(place: Settings, act: Any, who: str, *arguments: Any) -> Any:
    """One person's one deed, in a transaction of its own."""
    with session(place.database) as db:
        return act(db, "tailor", TASK, who, *arguments)


def standing(place: Settings) -> TaskStanding:
    """How far the task is."""
    with session(place.database) as db:
        return review.standing(db, "tailor", TASK)


def read(place: Settings, who: str, *faults: FaultPlace) -> None:
    """Somebody reads the whole task and writes these faults down."""
    does(place, reading.begin, who)
    for fault in faults:
        does(place, reading.note_fault, who, fault, f"{who} says so", "other words")
    does(place, reading.finish, who)

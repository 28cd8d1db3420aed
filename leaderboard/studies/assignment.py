"""Who rates what: dealt once, from a seed, when a study opens; what somebody leaves is handed to
who has least."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class CannotAssign(Exception):
    """The raters cannot cover the items under the rules; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Person:
    """A rater and the team whose outputs they must not see."""

    id: str
    team: str = ""


@dataclass(frozen=True, slots=True)
class ItemToAssign:
    """An item, the teams whose outputs it shows, and the letters of its media."""

    id: str
    teams: frozenset[str] = frozenset()
    letters: str = ""


@dataclass(frozen=True, slots=True)
class AssignedItem:
    """One item for one rater: which of the item's places, when it is their turn, and in which order
    media are shown."""

    item: str
    slot: int
    rater: str
    turn: int
    order: str


def deal(
    tasks: Sequence[ItemToAssign], people: Sequence[Person], raters_per_item: int, seed: int
) -> list[AssignedItem]:
    """Give every item `each` different raters so that loads differ by at most one and nobody rates
    their own team.

    Items and raters are shuffled and dealt like cards, so any two raters' loads differ by at most
    one; a place that would show somebody their own team's output is swapped with one that does not,
    which leaves all loads as they are.
    """
    if len(people) < raters_per_item:
        raise CannotAssign(
            f"{len(people)} raters cannot give every item {raters_per_item} ratings. Invite more, "
            "or ask for fewer."
        )
    dice = random.Random(seed)  # noqa: S311
    items, raters = dice.sample(tasks, len(tasks)), dice.sample(people, len(people))
    dealt = [
        [raters[(number * raters_per_item + slot) % len(raters)] for slot in range(raters_per_item)]
        for number in range(len(items))
    ]
    _part(items, dealt, dice)
    turns: dict[str, list[tuple[int, int]]] = {rater.id: [] for rater in people}
    for number, group in enumerate(dealt):
        for slot, person in enumerate(group):
            turns[person.id].append((number, slot))
    return [
        AssignedItem(
            items[number].id,
            slot,
            person,
            turn,
            shuffled(items[number].letters, seed, person, items[number].id),
        )
        for person, mine in turns.items()
        for turn, (number, slot) in enumerate(dice.sample(mine, len(mine)))
    ]


def shuffled(letters: str, seed: int, rater: str, item: str) -> str:
    """The order in which one rater sees the media of one item."""
    if len(letters) < 2:
        return ""
    draw = random.Random(f"{seed} {rater} {item}")  # noqa: S311
    return "".join(draw.sample(letters, len(letters)))


def _part(items: Sequence[ItemToAssign], dealt: list[list[Person]], dice: random.Random) -> None:
    """Swap people away from their own team's outputs."""
    for number, group in enumerate(dealt):
        for slot, person in enumerate(group):
            if person.team and person.team in items[number].teams:
                _swap(items, dealt, number, slot, dice)


def _swap(
    items: Sequence[ItemToAssign],
    dealt: list[list[Person]],
    number: int,
    slot: int,
    dice: random.Random,
) -> None:
    person = dealt[number][slot]
    for other_number in dice.sample(range(len(items)), len(items)):
        for place, partner in enumerate(dealt[other_number]):
            if _may(items[number], dealt[number], partner) and _may(
                items[other_number], dealt[other_number], person
            ):
                dealt[number][slot], dealt[other_number][place] = partner, person
                return
    raise CannotAssign(
        f"Nobody can take {person.id}'s place at an item of their own team. Invite raters of other "
        "teams."
    )


def _may(item: ItemToAssign, group: Sequence[Person], person: Person) -> bool:
    return person not in group and not (person.team and person.team in item.teams)


def heir(
    item: ItemToAssign,
    seated: Sequence[str],
    people: Sequence[Person],
    loads: Mapping[str, int],
    seed: int,
) -> str | None:
    """Who takes over a place that was left: somebody who does not sit there yet, with the least to
    do."""
    able = [
        person.id
        for person in people
        if person.id not in seated and not (person.team and person.team in item.teams)
    ]
    dice = random.Random(f"{seed} {item.id}")  # noqa: S311
    return min(dice.sample(able, len(able)), key=lambda name: loads.get(name, 0), default=None)

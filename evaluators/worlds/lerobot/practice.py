"""Practice in a kit: episodes as a LeRobot data set, counted as they are written, and the contract
of a world model beside them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from evaluators.contracts import world_model
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.lerobot.writing import DatasetCard, write_dataset
from evaluators.worlds.wire import example_world_server


def write_practice(
    folder: Path,
    robot: str,
    rate: float,
    recorded: Iterable[RobotEpisode],
    on_part: Callable[[str], None],
) -> int:
    """Write the episodes and say how many there were; a folder without any stays away."""
    episodes = iter(recorded)
    first = next(episodes, None)
    if first is None:
        return 0
    count = 0

    def counted() -> Iterator[RobotEpisode]:
        nonlocal count
        for episode in chain((first,), episodes):
            count += 1
            on_part("practice")
            yield episode

    actions = tuple(f"action_{n}" for n in range(first.actions.shape[1]))
    state = tuple(f"state_{n}" for n in range(first.state.shape[1]))
    write_dataset(folder, DatasetCard(robot, round(rate), actions, state), counted())
    return count


def write_contract(folder: Path, **card: str) -> None:
    """Copy the contract of a world model and the example of a server; `card` are lines of its card
    that are written otherwise."""
    for module in (world_model, example_world_server):
        words = inspect.getsource(module)
        if module is example_world_server:
            words = _with_card(words, card)
        (folder / f"{module.__name__.rpartition('.')[2]}.py").write_text(words, "utf-8")


def _with_card(words: str, card: dict[str, str]) -> str:
    lines = words.splitlines(keepends=True)
    for name, value in card.items():
        place = next(i for i, line in enumerate(lines) if line.startswith('    "modes"'))
        own = [i for i, line in enumerate(lines) if line.startswith(f'    "{name}":')]
        line = f'    "{name}": {value},\n'
        if own:
            lines[own[0]] = line
        else:
            lines.insert(place, line)
    return "".join(lines)

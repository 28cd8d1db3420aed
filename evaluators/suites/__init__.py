"""Each suite is one folder that exports SUITE; a new folder is found by itself.

A suite that has more than one board keeps the others in a folder `boards`: `<suite>/boards/<board>`
exports the suite `<suite>_<board>`, and may import the modules of the suite that it lies in.

Folders named in ARMILLARY_SUITES_PATH are searched too: a suite in one of them is imported as
`evaluators.suites.<folder>`, like ours. It is code that runs with our rights, so only an operator
sets the variable. Folders named in ARMILLARY_BANKS_PATH hold banks, samples and no code: each is a
suite `<suite>.<bank>` with the rules of its suite and boards of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from evaluators.contracts import BankCard, Suite
from evaluators.suites.banks import mounted_banks

ORDER = ("tailor", "liva", "sc3", "universe", "universe_worlds", "universe_truth")
"""How the board lists them; a suite that is not named here comes after these."""
BOARDS = "boards"
"""The folder inside a suite that holds its further boards."""
SUITES_PATH = "ARMILLARY_SUITES_PATH"
"""Folders of suites that lie outside of this package, separated like those of PATH."""


def search_folders(variable: str, own: Iterable[str]) -> list[str]:
    """Our own folder of suites, then those that an operator named.

    >>> search_folders("", ["suites"])
    ['suites']
    """
    folders = [os.path.abspath(name) for name in variable.split(os.pathsep) if name]
    if missing := [name for name in folders if not Path(name).is_dir()]:
        raise NotADirectoryError(
            f"{SUITES_PATH} names {missing[0]}, which is no folder. Name folders that hold one "
            "folder a suite."
        )
    return [*own, *folders]


__path__ = search_folders(os.environ.get(SUITES_PATH, ""), __path__)


def suite_names() -> list[str]:
    """The name of every suite, in the board's order; none of them is imported for it."""
    names = [name for folder in __path__ for name, _ in _found_in(folder)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"There are two suites {twice[0]!r} in {', '.join(__path__)}. Rename the folder of one."
        )
    own = sorted(names, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return [*own, *(card.suite_name for card in mounted_banks())]


def module_of(suite: str) -> str:
    """The module that exports a suite, or the suite of which it is a bank; not imported for it.

    >>> module_of("universe_worlds"), module_of("liva.our_kitchens")
    ('evaluators.suites.universe.boards.worlds', 'evaluators.suites.liva')
    """
    name = base_name(suite)
    modules = {found: module for folder in __path__ for found, module in _found_in(folder)}
    return f"{__name__}.{modules.get(name, name)}"


def _found_in(folder: str) -> Iterator[tuple[str, str]]:
    """The names of the suites in a folder, each with its module inside of this package."""
    for suite in _packages(Path(folder)):
        yield suite, suite
        for board in _packages(Path(folder, suite, BOARDS)):
            yield f"{suite}_{board}", f"{suite}.{BOARDS}.{board}"


def _packages(folder: Path) -> list[str]:
    return [module.name for module in iter_modules([str(folder)]) if module.ispkg]


def base_name(suite: str) -> str:
    """The suite whose rules a suite follows: its own, or that of which it is a bank.

    >>> base_name("liva.our_kitchens"), base_name("liva")
    ('liva', 'liva')
    """
    return suite.partition(".")[0]


@cache
def all_suites() -> tuple[Suite, ...]:
    """Every suite, in the board's order."""
    cards = {card.suite_name: card for card in mounted_banks()}
    return tuple(_mounted(cards[name]) if name in cards else _suite(name) for name in suite_names())


def _suite(name: str) -> Suite:
    suite: Suite = import_module(module_of(name)).SUITE
    if suite.name != name:
        raise ValueError(
            f"The suite in the folder {name!r} calls itself {suite.name!r}. Give both one name."
        )
    return suite


def _mounted(card: BankCard) -> Suite:
    suite = _suite(card.suite) if card.suite in suite_names() else None
    if suite is None or suite.mount is None:
        raise ValueError(
            f"The bank in {card.folder} is for {card.suite!r}, which takes no banks. Name another "
            "suite in its bank.json."
        )
    return suite.mount(card)


def suite_named(name: str) -> Suite:
    """The suite of that name; a wrong name is answered with the right ones."""
    for suite in all_suites():
        if suite.name == name:
            return suite
    raise KeyError(
        f"There is no suite {name!r}. There are: {', '.join(suite.name for suite in all_suites())}."
    )

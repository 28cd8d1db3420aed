"""The suites. Each is one folder that exports SUITE; a new folder is found by itself."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from evaluators.contracts import Suite

ORDER = ("tailor", "liva", "sc3", "universe")
"""How the board lists them; a suite that is not named here comes after these."""


def suite_names() -> list[str]:
    """The name of every suite, in the board's order; none of them is imported for it."""
    names = [module.name for module in iter_modules(__path__) if module.ispkg]
    return sorted(
        names, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name)
    )


@cache
def all_suites() -> tuple[Suite, ...]:
    """Every suite, in the board's order."""
    return tuple(import_module(f"{__name__}.{name}").SUITE for name in suite_names())


def suite_named(name: str) -> Suite:
    """The suite of that name; a wrong name is answered with the right ones."""
    for suite in all_suites():
        if suite.name == name:
            return suite
    raise KeyError(
        f"There is no suite {name!r}. There are: {', '.join(suite.name for suite in all_suites())}."
    )

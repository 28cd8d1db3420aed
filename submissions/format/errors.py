"""What can be wrong with something handed in: one code, where, what, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_PROBLEMS = 50
MOST_ECHOED = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. Codes begin with E_ (refused) or W_ (taken, and shown)."""

    code: str
    where: str
    message: str
    hint: str
    limit: float | None = None


class IntakeError(Exception):
    """A bundle that cannot be taken, with every problem found, at most fifty; `total` counts those
    left out too."""

    def __init__(self, problems: Sequence[Problem], total: int | None = None) -> None:
        self.total = len(problems) if total is None else total
        self.problems = tuple(problems[:MOST_PROBLEMS])
        super().__init__(
            "; ".join(
                f"{problem.code} at {problem.where}: {problem.message}" for problem in self.problems
            )
        )


def refusal(
    code: str, where: str, message: str, hint: str, limit: float | None = None
) -> IntakeError:
    """An error of a single problem."""
    return IntakeError([Problem(code, where, message, hint, limit)])


def shown(value: object) -> str:
    """Somebody's text, safe to print: short, and without control characters.

    >>> shown("a\\nb")
    "'a\\\\nb'"
    """
    text = repr(value[: MOST_ECHOED + 1] if isinstance(value, str) else value)
    return text if len(text) <= MOST_ECHOED else text[: MOST_ECHOED - 1] + "…"

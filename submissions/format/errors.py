"""Problems of a submission: a code, the place, a message and a hint; and the error that carries
them."""

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


def too_slow(seconds: float) -> IntakeError:
    """The refusal of a bundle that takes longer to read than a bundle of its size may."""
    hint = "Hand in fewer or smaller files; if the bundle is sound, write to the board's operators."
    message = f"Reading it takes over {seconds:.0f} seconds."
    return refusal("E_INTAKE_TIME", "bundle", message, hint, round(seconds))


def too_heavy(memory: int) -> IntakeError:
    """The refusal of a bundle that takes more memory to read than a bundle may."""
    hint = "Hand in smaller configs, tokenizers and manifests."
    message = f"Reading it takes over {memory} bytes of memory."
    return refusal("E_INTAKE_MEMORY", "bundle", message, hint, memory)


def unreadable() -> IntakeError:
    """The refusal of a bundle that ends the program which reads it."""
    hint = "Make it again with plain tools; if it is sound, write to the board's operators."
    return refusal("E_INTAKE_BROKEN", "bundle", "It ends the program that reads it.", hint)


def shown(value: object) -> str:
    """Somebody's text, safe to print: short, and without control characters.

    >>> shown("a\\nb")
    "'a\\\\nb'"
    """
    text = repr(value[: MOST_ECHOED + 1] if isinstance(value, str) else value)
    return text if len(text) <= MOST_ECHOED else text[: MOST_ECHOED - 1] + "…"

"""What pictures and clips cost, and who keeps count: each is written down before it is bought."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

from evaluators.contracts import CannotProduce


class BudgetUsedUp(CannotProduce):
    """The next picture or clip would cost more than the submission may; it was not bought."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model behind an endpoint costs: a picture, a clip, and each second of a clip."""

    picture: float = 0.0
    clip: float = 0.0
    second: float = 0.0

    def of_clip(self, seconds: float) -> float:
        """A clip of so many seconds.

        >>> Price(clip=0.1, second=0.05).of_clip(4)
        0.3
        """
        return round(self.clip + self.second * seconds, 6)


UNPRICED = Price()


class Ledger(Protocol):
    """A submission's purchases, kept where a kill does not reach.

    `buy` writes one down before it is made, once for each key, and raises BudgetUsedUp if there is
    no money for it. `job` is the number of the job that a purchase began, `note_job` keeps it.
    """

    def buy(self, key: str, price: float) -> None: ...

    def job(self, key: str) -> str: ...

    def note_job(self, key: str, job: str) -> None: ...


class FreeLedger:
    """Counts nothing and keeps job numbers in this process."""

    def __init__(self) -> None:
        self._jobs: dict[str, str] = {}

    def buy(self, key: str, price: float) -> None:
        """Nobody pays."""

    def job(self, key: str) -> str:
        """The job, if it was begun in this process."""
        return self._jobs.get(key, "")

    def note_job(self, key: str, job: str) -> None:
        """Remember it."""
        self._jobs[key] = job


def purchase_key(*parts: object) -> str:
    """The key of one purchase, sent with every try at it, so that an answer that is lost is not
    paid for twice."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:48]


def read_prices(text: str) -> dict[str, Price]:
    """A price list: one table a model, with `picture`, `clip` or `second`.

    >>> read_prices('["sora-2"]\\nsecond = 0.1')
    {'sora-2': Price(picture=0.0, clip=0.0, second=0.1)}
    """
    names = {field.name for field in fields(Price)}
    prices = {}
    for model, table in tomllib.loads(text).items():
        if not _is_prices(table, names):
            raise ValueError(
                f"The prices of {model!r} are {table!r}. Write a table with "
                f"{', '.join(sorted(names))} and numbers that are not negative."
            )
        prices[model] = Price(**{name: float(value) for name, value in table.items()})
    return prices


def _is_prices(table: Any, names: set[str]) -> bool:
    return (
        isinstance(table, Mapping)
        and table.keys() <= names
        and all(type(value) in (int, float) and value >= 0 for value in table.values())
    )

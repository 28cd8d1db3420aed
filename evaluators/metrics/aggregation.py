"""From ratings of samples to the cells of TailOR's table, and how a cell is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import fsum, isfinite

from evaluators.metrics.means import group, mean


@dataclass(frozen=True, slots=True)
class Address:
    """Where in the table a value belongs."""

    setting: str
    modality: str
    model: str
    scenario: str
    evaluator: str
    metric: str


@dataclass(frozen=True, slots=True)
class Rating:
    """One annotator's value of one metric for one sample; None if they gave none."""

    address: Address
    sample_id: str
    annotator: str
    value: float | None


@dataclass(frozen=True, slots=True)
class CellMean:
    """The mean over the samples of one cell that have a value, and their number."""

    address: Address
    value: float | None
    n_samples: int


def aggregate(ratings: Sequence[Rating]) -> tuple[CellMean, ...]:
    """Average annotators within a sample, then samples within a cell; cells come sorted by address.

    >>> cell = Address("predictive", "video", "m1", "regular", "human", "physical_realism")
    >>> rows = [Rating(cell, "s1", "a", 5), Rating(cell, "s1", "b", 3), Rating(cell, "s2", "a", 1)]
    >>> [(mean.value, mean.n_samples) for mean in aggregate(rows)]
    [(2.5, 2)]
    """
    samples = group(((r.address, r.sample_id), _finite(r)) for r in ratings if r.value is not None)
    cells = group((address, fsum(values) / len(values)) for (address, _), values in samples.items())
    addresses = sorted({rating.address for rating in ratings}, key=astuple)
    return tuple(CellMean(a, mean(cells.get(a, [])), len(cells.get(a, []))) for a in addresses)


def round_half_up(value: float, places: int) -> Decimal:
    """Round to decimal places, a half always away from zero as in the printed tables.

    >>> round_half_up(0.445, 2), round_half_up(2.5, 0)
    (Decimal('0.45'), Decimal('3'))
    """
    # Nine decimals first, so that 2.4499999999999997 is the 2.45 it stands for.
    nearby = Decimal(f"{value:.9f}")
    return nearby.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP) + 0


def show_percent(value: float | None) -> str | None:
    """Print a percentage as the table does, a whole number.

    >>> show_percent(37.5), show_percent(None)
    ('38%', None)
    """
    return None if value is None else f"{round_half_up(value, 0)}%"


def show_rating(value: float | None) -> str | None:
    """Print a rating as the table does, with one decimal.

    >>> show_rating(2.25), show_rating(None)
    ('2.3', None)
    """
    return None if value is None else f"{round_half_up(value, 1)}"


def _finite(rating: Rating) -> float:
    if rating.value is None or not isfinite(rating.value):
        raise ValueError(f"The value of sample {rating.sample_id!r} is {rating.value}. Give a finite number, or None.")
    return rating.value

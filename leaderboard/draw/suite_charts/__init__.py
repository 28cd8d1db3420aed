"""Charts a suite brings along: one module a suite, named like it or `charts.py` in an outside
suite's folder; each chart is a pure function from figures to Altair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import altair as alt
import pandas as pd

from leaderboard.draw.suite_modules import suite_module
from leaderboard.queries.entries import Figure

COLUMNS = tuple(Figure.__dataclass_fields__)
"""What `figures` holds, one row a cell: model, evaluator (auto or human), trust, metric, the four
facets (`*` is over all), value, low, high, spread, n_scored, n_expected, source, note, run_id,
board."""


@dataclass(frozen=True, slots=True)
class SuiteChart:
    """One chart: `draw` gets every figure of the suite, published ones too, and gives None if it
    has too few."""

    name: str
    title: str
    reads: str
    draw: Callable[[pd.DataFrame], alt.TopLevelMixin | None]


def charts_of(suite: str) -> tuple[SuiteChart, ...]:
    """The charts of a suite, in its own order; none if it brings none."""
    module = suite_module(__name__, suite, "charts.py")
    return tuple(module.CHARTS) if module else ()


def fixed_of(suite: str) -> tuple[tuple[str, str], ...]:
    """The facets that all charts of a suite look at in one place only: its `FIXED`. Nothing else is
    read for them."""
    return tuple(getattr(suite_module(__name__, suite, "charts.py"), "FIXED", {}).items())


def table(figures: Sequence[Figure]) -> pd.DataFrame:
    """Figures as the table that charts read."""
    return pd.DataFrame(map(attrgetter(*COLUMNS), figures), columns=list(COLUMNS))

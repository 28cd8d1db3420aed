"""The ranking's chart as a small picture of our own: dots with intervals, drawn by the browser
without a chart library.

It stands on the page that most people open first, where a library of charts would be half of all
that is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from math import ceil, floor, log10

import pandas as pd

from leaderboard.draw.charts import BY, MOST_ROWS, ROW, TRUST, domain

WIDTH, LEFT, RIGHT, TOP, FOOT = 600, 250, 12, 30, 46
TICKS = 5
LETTERS = 37
STYLE = (
    "<style>text{fill:#31333f}.line{stroke:#31333f}"
    "@media(prefers-color-scheme:dark){text{fill:#fafafa}.line{stroke:#fafafa}}</style>"
)


def dots(points: pd.DataFrame, title: str, digits: int, whole: float) -> str:
    """One dot a model with its interval, best on top, as SVG for light and dark pages."""
    top_points = points.head(MOST_ROWS)
    low, high = domain(top_points, whole)
    height = TOP + ROW * len(top_points) + FOOT

    def place(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    rows = "".join(
        _row(row, number, place, digits) for number, row in enumerate(top_points.to_dict("records"))
    )
    body = f"{_legend(top_points)}{_axis(low, high, place, height, title, digits)}{rows}"
    description = f"{title}: {len(top_points)} entries with 95 % intervals, best on top"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(description)}" '
        f'font-size="12" font-family="sans-serif">{STYLE}{body}</svg>'
    )


def _row(row: dict[str, object], number: int, place: Callable[[float], float], digits: int) -> str:
    y = TOP + ROW * number + ROW / 2
    colour = dict(zip(TRUST.domain, TRUST.range, strict=True))[str(row["trust"])]
    value, low, high = (row[key] for key in ("value", "low", "high"))
    has_interval = (
        isinstance(low, float) and isinstance(high, float) and low == low and high == high
    )
    line = (
        f'<line x1="{place(low):.1f}" x2="{place(high):.1f}" y1="{y}" y2="{y}"/>'  # type: ignore
        if has_interval
        else ""
    )
    span = f" from {low:.{digits}f} to {high:.{digits}f}" if has_interval else ""
    about = (
        f"{row['model']}: {value:.{digits}f}{span}, {row['by']}, trust {row['trust']}, n/N "
        f"{row['n'] or '—'}"
    )
    label = str(row["label"])
    short = label if len(label) <= LETTERS else f"{label[: LETTERS - 1]}…"
    mark = _mark(place(float(value)), y, str(row["by"]))  # type: ignore[arg-type]
    return (
        f"<g><title>{escape(about)}</title>"
        f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(short)}</text>'
        f'<g stroke="{colour}" stroke-width="2" fill="{colour}">{line}{mark}</g></g>'
    )


def _mark(x: float, y: float, by: str) -> str:
    if by == "human":
        return f'<path d="M{x:.1f} {y - 6}l6 6l-6 6l-6 -6z"/>'
    return f'<circle cx="{x:.1f}" cy="{y}" r="5" stroke="none"/>'


def _axis(
    low: float, high: float, place: Callable[[float], float], height: int, title: str, digits: int
) -> str:
    """A few round places, a thin line at each, and what is measured."""
    foot = height - FOOT
    marks = "".join(
        f'<line x1="{place(value):.1f}" x2="{place(value):.1f}" y1="{TOP}" y2="{foot}" '
        f'class="line" opacity="0.15"/><text x="{place(value):.1f}" y="{foot + 18}" '
        f'text-anchor="middle" opacity="0.75">{value:.{digits}f}</text>'
        for value in round_places(low, high)
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    return (
        f'{marks}<text x="{middle}" y="{foot + 38}" text-anchor="middle" opacity="0.75">'
        f"{escape(title)}</text>"
    )


def round_places(low: float, high: float) -> list[float]:
    """A few round numbers between two.

    >>> round_places(28.9, 73.8)
    [30.0, 40.0, 50.0, 60.0, 70.0]
    """
    rough = (high - low) / TICKS
    power = 10.0 ** floor(log10(rough))
    step = power * next(times for times in (1, 2, 5, 10) if times * power >= rough)
    return [round(number * step, 9) for number in range(ceil(low / step), floor(high / step) + 1)]


def _legend(points: pd.DataFrame) -> str:
    """Which colour is which trust, which sign is whose judgement; only those that occur."""
    colours = dict(zip(TRUST.domain, TRUST.range, strict=True))
    parts, x = [], float(LEFT)
    for trust in [option for option in TRUST.domain if option in set(points["trust"])]:
        parts.append(
            f'<g fill="{colours[trust]}">{_mark(x, 12, "auto")}</g>'
            f'<text x="{x + 10}" y="16">trust {trust}</text>'
        )
        x += 74
    for by in [option for option in BY.domain if option in set(points["by"])]:
        parts.append(
            f'<g fill="#888888">{_mark(x, 12, by)}</g><text x="{x + 10}" y="16">{by}</text>'
        )
        x += 66
    return "".join(parts)

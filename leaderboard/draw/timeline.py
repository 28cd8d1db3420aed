"""Score over time as a small picture of our own: one dot an entry, and a line of the best so
far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from leaderboard.draw.dots import STYLE, round_places
from leaderboard.queries.ranking import RankedEntry

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 620, 220, 56, 16, 14, 40
COLOUR = "#0072B2"


@dataclass(frozen=True, slots=True)
class DatedScore:
    """An entry's figure on the day it came on the board."""

    at: datetime
    value: float
    model: str


def dated(entries: Sequence[RankedEntry]) -> list[DatedScore]:
    """The ranked entries that have a day, oldest first; two days at least, or there is no course
    of time."""
    scores = [
        DatedScore(entry.published_at, entry.value, entry.model)
        for entry in entries
        if entry.rank is not None and entry.published_at and entry.value is not None
    ]
    scores.sort(key=lambda score: score.at)
    return scores if len({score.at.date() for score in scores}) > 1 else []


def best_so_far(scores: Sequence[DatedScore], best_is_high: bool) -> list[DatedScore]:
    """Those that were the best on their day."""
    sign = 1 if best_is_high else -1
    records: list[DatedScore] = []
    for score in scores:
        if not records or sign * score.value > sign * records[-1].value:
            records.append(score)
    return records


def timeline(scores: Sequence[DatedScore], title: str, best_is_high: bool, digits: int) -> str:
    """The picture as SVG for light and dark pages."""
    first, last = scores[0].at.timestamp(), scores[-1].at.timestamp()
    values = [score.value for score in scores]
    margin = max((max(values) - min(values)) * 0.12, 1e-6)
    low, high = min(values) - margin, max(values) + margin
    foot = HEIGHT - FOOT

    def across(at: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (at.timestamp() - first) / (last - first)

    def up(value: float) -> float:
        return foot - (foot - TOP) * (value - low) / (high - low)

    marks = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(value):.1f}" y2="{up(value):.1f}" '
        f'class="line" opacity="0.15"/><text x="{LEFT - 8}" y="{up(value) + 4:.1f}" '
        f'text-anchor="end">{value:.{digits}f}</text>'
        for value in round_places(low, high)
    )
    dots = "".join(
        f"<g><title>{escape(f'{score.at:%Y-%m-%d} {score.model}: {score.value:.{digits}f}')}"
        f'</title><circle cx="{across(score.at):.1f}" cy="{up(score.value):.1f}" r="4" '
        f'fill="{COLOUR}"/></g>'
        for score in scores
    )
    records = best_so_far(scores, best_is_high)
    path = f"M{across(records[0].at):.1f} {up(records[0].value):.1f}" + "".join(
        f"H{across(record.at):.1f}V{up(record.value):.1f}" for record in records[1:]
    )
    days = (
        f'<text x="{LEFT}" y="{foot + 18}">{scores[0].at:%Y-%m-%d}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{foot + 18}" text-anchor="end">{scores[-1].at:%Y-%m-%d}'
        f'</text><text x="{(LEFT + WIDTH) / 2}" y="{foot + 34}" text-anchor="middle">'
        f"{escape(title)}, the line is the best so far</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)} over time" '
        f'font-size="12" font-family="sans-serif">{STYLE}{marks}<path d="{path}H{WIDTH - RIGHT}" '
        f'fill="none" stroke="{COLOUR}" stroke-width="2"/>{dots}{days}</svg>'
    )

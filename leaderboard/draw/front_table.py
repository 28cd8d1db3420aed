"""The few rows that the front page shows of a suite, as an HTML table with a bar a figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from infra.tables import Metric
from leaderboard.draw.ranking_table import ROLES
from leaderboard.draw.words import interval, name, number, titled
from leaderboard.queries.ranking import PAPER, RankedEntry


def front_table(entries: Sequence[RankedEntry], metric: Metric) -> str:
    """Rank, model and figure with its interval; a paper's figure has no rank and no link."""
    ranked = any(entry.rank is not None for entry in entries)
    rows = "".join(_row(entry, metric, ranked) for entry in entries)
    title = escape(titled(metric.title, metric.unit))
    rank = '<th scope="col" class="rank">Rank</th>' * ranked
    return (
        f'<table class="arm-front"><thead><tr>{rank}<th scope="col">Model</th>'
        f'<th scope="col" class="num">{title}</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _row(entry: RankedEntry, metric: Metric, ranked: bool) -> str:
    model = escape(name(entry.model, 60))
    link = escape(f"model?{urlencode({'id': entry.submission_id})}")
    named = model if entry.trust == PAPER else f'<a data-turn="1" href="{link}">{model}</a>'
    role = f" <small>{ROLES[entry.role].lower()}</small>" if entry.role in ROLES else ""
    lead = ' class="lead"' if entry.rank == 1 else ""
    rank = f'<td class="rank">{_rank(entry)}</td>' * ranked
    return (
        f'<tr{lead}>{rank}<th scope="row">{named}{role}</th>'
        f'<td class="num" style="--w:{share(entry.value, metric):.2f}">'
        f"<b>{number(entry.value, metric.unit)}</b>{_interval(entry, metric)}</td></tr>"
    )


def share(value: float | None, metric: Metric) -> float:
    """How far a figure is on the way from the worst to the best that there can be."""
    if value is None or metric.best == metric.worst:
        return 0.0
    return min(1.0, max(0.0, (value - metric.worst) / (metric.best - metric.worst)))


def _rank(entry: RankedEntry) -> str:
    if entry.rank is None:
        return '<span aria-label="no rank">–</span>'
    if entry.best_rank in (None, entry.worst_rank):
        return str(entry.rank)
    return f"{entry.rank}<small>{entry.best_rank}–{entry.worst_rank}</small>"


def _interval(entry: RankedEntry, metric: Metric) -> str:
    if entry.low is None or entry.high is None:
        return ""
    return f"<small>{interval(entry.low, entry.high, metric.unit)}</small>"

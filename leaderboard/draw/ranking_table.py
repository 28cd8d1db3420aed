"""A ranking as an HTML table: a screen reader can walk it, a column's head is a link that sorts.

Pure: rows in, text out. Everything that somebody else wrote is escaped here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import urlencode

from infra.tables import Metric
from leaderboard.draw.groups import Group, group_of
from leaderboard.draw.words import interval, name, number, plain, titled
from leaderboard.queries.glance.headlines import HeadlineFigure
from leaderboard.queries.ranking import RankedEntry

MOST_ROWS = 100
ROLES = {"sanity": "Sanity row", "ceiling": "Ceiling", "baseline": "Baseline"}
GROUPS: dict[Group, str] = {
    "ranked": "",
    "unranked": "Shown without a rank",
    "measure": "To measure by: sanity rows, ceilings and baselines",
}
SPLIT_HEAD = (
    '<th scope="col" class="num" title="Share of questions to which the judges of the panel did '
    'not all give the same answer">Disagreement</th>'
)
Href = Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class RankingColumns:
    """What a table has as columns: the metrics, by which of them it ranks, what is hidden, and
    whether a panel judged, whose disagreement is a column."""

    metrics: Sequence[Metric]
    chosen: str
    sort: str = "best"
    hidden: Sequence[str] = ()
    panel: bool = False

    @property
    def shown(self) -> list[Metric]:
        """The metrics that are not hidden; what it ranks by always shows."""
        return [
            metric
            for metric in self.metrics
            if metric.name == self.chosen or metric.title not in self.hidden
        ]


@dataclass(frozen=True, slots=True)
class RankingRows:
    """What a table has as rows: entries in their order, their figures, pictures, and which came
    lately."""

    entries: Sequence[RankedEntry]
    figures: Mapping[tuple[str, str], HeadlineFigure]
    pictures: Mapping[str, str] = field(default_factory=dict)
    new: frozenset[str] = frozenset()


def ranking_table(columns: RankingColumns, rows: RankingRows, href: Href, caption: str) -> str:
    """The table: the ranked first, then who has no rank, then what to measure by."""
    ranked = [entry for entry in rows.entries if group_of(entry) == "ranked"]
    scale = {metric.name: _scale(metric, ranked, rows.figures) for metric in columns.shown}
    body = "".join(
        _group(group, [entry for entry in rows.entries if group_of(entry) == group], columns)
        + "".join(
            _row(entry, columns, rows, scale) for entry in rows.entries if group_of(entry) == group
        )
        for group in GROUPS
    )
    return (
        f'<div class="arm-scroll"><table class="arm-table"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{_heads(columns, href)}</tr></thead><tbody>{body}</tbody></table></div>"
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    """From the worst to the best value of a column among the ranked."""

    worst: float
    best: float

    def share(self, value: float) -> float:
        """How far a value is from worst to best."""
        return (value - self.worst) / (self.best - self.worst) if self.best != self.worst else 0.0


def _scale(
    metric: Metric,
    ranked: Sequence[RankedEntry],
    figures: Mapping[tuple[str, str], HeadlineFigure],
) -> _Scale | None:
    """None where fewer than two are ranked: nothing is best among one."""
    cells = (figures.get((entry.run_id, metric.name)) for entry in ranked)
    values = [cell.value for cell in cells if cell is not None and cell.value is not None]
    if len(values) < 2:
        return None
    ends = (min(values), max(values))
    return _Scale(*(ends if metric.direction == "higher" else reversed(ends)))


def _heads(columns: RankingColumns, href: Href) -> str:
    metrics = "".join(_metric_head(metric, columns, href) for metric in columns.shown)
    by_name = _sort_link("Model", {"sort": "name"}, href)
    newest = _sort_link("Date", {"sort": "newest"}, href)
    ends = [
        f'<th scope="col" class="wide">{text}</th>'
        for title, text in (("n/N", "n/N"), ("Trust", "Trust"), ("Date", newest))
        if title not in columns.hidden
    ]
    return (
        '<th scope="col" class="num">Rank</th>'
        f'<th scope="col"{_sorted(columns.sort == "name", "ascending")}>{by_name}</th>'
        f"{metrics}{SPLIT_HEAD * columns.panel}{''.join(ends)}"
    )


def _metric_head(metric: Metric, columns: RankingColumns, href: Href) -> str:
    chosen = metric.name == columns.chosen
    arrow = "↑" if metric.direction == "higher" else "↓"
    turned = "worst" if chosen and columns.sort == "best" else "best"
    link = _sort_link(
        f"{titled(metric.title, metric.unit)} {arrow}",
        {"metric": metric.name, "sort": turned},
        href,
    )
    descending = (metric.direction == "higher") == (columns.sort == "best")
    state = _sorted(
        chosen and columns.sort in ("best", "worst"),
        "descending" if descending else "ascending",
    )
    return f'<th scope="col" class="num{" chosen" if chosen else " wide"}"{state}>{link}</th>'


def _sort_link(text: str, changes: Mapping[str, str], href: Href) -> str:
    return f'<a data-turn="1" href="{escape(href(changes))}">{escape(text)}</a>'


def _sorted(holds: bool, order: str) -> str:
    return f' aria-sort="{order}"' if holds else ""


def _group(group: Group, entries: Sequence[RankedEntry], columns: RankingColumns) -> str:
    """The line over a group; the ranked need none."""
    if not entries or not GROUPS[group]:
        return ""
    across = 2 + len(columns.shown) + columns.panel + 3
    return f'<tr class="group"><th scope="rowgroup" colspan="{across}">{GROUPS[group]}</th></tr>'


def _row(
    entry: RankedEntry,
    columns: RankingColumns,
    rows: RankingRows,
    scale: Mapping[str, _Scale | None],
) -> str:
    cells = "".join(
        _figure(
            entry,
            metric,
            rows.figures.get((entry.run_id, metric.name)),
            scale[metric.name],
            metric.name == columns.chosen,
        )
        for metric in columns.shown
    )
    return (
        f'<tr class="{group_of(entry)}"><td class="num rank">{_rank(entry)}</td>'
        f'<th scope="row">{_model(entry, rows)}</th>{cells}{_split(entry) * columns.panel}'
        f"{_ends(entry, columns)}</tr>"
    )


def _split(entry: RankedEntry) -> str:
    share = "–" if entry.disagreement is None else f"{100 * entry.disagreement:.1f} %"
    return f'<td class="num">{share}</td>'


def _rank(entry: RankedEntry) -> str:
    if entry.rank is None:
        return '<span aria-label="no rank">–</span>'
    if entry.best_rank in (None, entry.worst_rank):
        return f"<b>{entry.rank}</b>"
    return f"<b>{entry.rank}</b><small>{entry.best_rank}–{entry.worst_rank}</small>"


def _model(entry: RankedEntry, rows: RankingRows) -> str:
    picture = rows.pictures.get(entry.submission_id)
    blank = '<span class="bare"></span>' if rows.pictures else ""
    image = f'<img alt="" src="{picture}">' if picture else blank
    link = f"model?{urlencode({'id': entry.submission_id})}"
    about = [name(entry.organisation, 60), ROLES.get(entry.role, "")]
    if group_of(entry) == "unranked":
        about.append(name(entry.note, 160))
    marks = '<span class="mark">new</span>' if entry.run_id in rows.new else ""
    line = escape(" · ".join(part for part in about if part))
    return (
        f'<a class="model" data-turn="1" href="{escape(link)}">{image}'
        f"<span>{escape(name(entry.model, 80))}{marks}<small>{line}</small></span></a>"
    )


def _figure(
    entry: RankedEntry,
    metric: Metric,
    figure: HeadlineFigure | None,
    scale: _Scale | None,
    chosen: bool,
) -> str:
    kind = f"num{' chosen' if chosen else ' wide'}"
    if figure is None or figure.value is None:
        return f'<td class="{kind}"><span aria-label="no value">—</span></td>'
    text = number(figure.value, metric.unit)
    share = scale.share(figure.value) if scale and group_of(entry) == "ranked" else None
    tint = "" if share is None else f' style="--t:{max(0.0, min(1.0, share)):.2f}"'
    value = f"<b>{text}</b>" if share == 1.0 else text
    look = urlencode({"run": entry.run_id, "metric": metric.name})
    return (
        f'<td class="{kind}"{tint}><a data-turn="1" href="samples?{escape(look)}">{value}</a>'
        f"{_interval(figure, metric)}</td>"
    )


def _interval(figure: HeadlineFigure, metric: Metric) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"<small>{interval(figure.low, figure.high, metric.unit)}</small>"


def _ends(entry: RankedEntry, columns: RankingColumns) -> str:
    counted = "—" if entry.n_expected is None else f"{entry.n_scored}/{entry.n_expected}"
    day = f"{entry.published_at:%Y-%m-%d}" if entry.published_at else "—"
    cells = (("n/N", counted), ("Trust", entry.trust), ("Date", day))
    return "".join(
        f'<td class="wide short">{escape(text)}</td>'
        for title, text in cells
        if title not in columns.hidden
    )


def figure_table(entries: Sequence[RankedEntry], metric: Metric, paper: str) -> str:
    """What papers print, as a table of the same look: no rank, always a source."""
    heads = ("Model", titled(metric.title, metric.unit), "±", "Judged by", "Source")
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(name(entry.model, 80))}</th>'
        f'<td class="num">{number(entry.value, metric.unit)}</td>'
        f'<td class="num">{number(entry.spread, metric.unit)}</td>'
        f"<td>{escape(plain(entry.evaluator))}</td>"
        f'<td><a href="{escape(paper)}">{escape(name(entry.source, 200))}</a>'
        f"<small>{escape(name(entry.note, 300))}</small></td></tr>"
        for entry in entries
    )
    return (
        '<div class="arm-scroll"><table class="arm-table papers"><caption>Figures that papers '
        f"print</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )

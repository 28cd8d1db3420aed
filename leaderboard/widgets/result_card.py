"""The result card of one run: its rank, its headline figures, four pictures, and where to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

import streamlit as st

from infra.store import open_store
from infra.tables import Metric
from leaderboard.cache.reader import NoBoard
from leaderboard.draw.trust_strip import label, strip
from leaderboard.draw.words import interval, name, number, titled
from leaderboard.queries import ranking
from leaderboard.queries.glance.headlines import (
    HeadlineFigure,
    ShownOutput,
    headline_figures,
    headline_metrics,
    shown_outputs,
)
from leaderboard.queries.glance.strip import TrustStrip, shown_board, trust_strip
from leaderboard.queries.ranking import RankedEntry
from leaderboard.queries.samples import RunFacts
from leaderboard.selection.choice import Choice
from leaderboard.selection.settle import Settled, settle
from leaderboard.widgets.common import ask, link, settings
from leaderboard.widgets.thumbnails import WIDTH, row_addresses

PICTURES = 4
CANDIDATES = 200


def result_card(run: RunFacts) -> None:
    """Draw the card where the ranking page would open for this run's suite."""
    settled = ask(settle, Choice(suite=run.suite))
    if settled is None:
        return
    chosen = settled.choice
    entries = ask(ranking.ranking, chosen.suite, chosen.metric, chosen.at)
    same = [entry for entry in entries if entry.board == run.board]
    own = next((entry for entry in same if entry.run_id == run.run_id), None)
    if own is None:
        return
    metrics = headline_metrics(settled.metrics, chosen.metric)
    names = tuple(metric.name for metric in metrics)
    figures = ask(headline_figures, (run.run_id,), names, chosen.at)
    facts = ask(trust_strip, shown_board(run.suite, same))
    st.html(card(own, same, settled.metric, metrics, figures, facts))
    _pictures(run)
    _links(run, settled)
    st.html(strip(facts))


def card(
    own: RankedEntry,
    same: Sequence[RankedEntry],
    ranked_by: Metric,
    metrics: Sequence[Metric],
    figures: Mapping[tuple[str, str], HeadlineFigure],
    facts: TrustStrip,
) -> str:
    """The card as HTML: the rank large, and one figure a headline metric."""
    cells = "".join(_figure(metric, figures.get((own.run_id, metric.name))) for metric in metrics)
    note = label(facts)
    mark = f'<span class="mark">{escape(note)}</span>' if note else ""
    return (
        f'<div class="arm-card"><div class="place"><b>{_rank(own)}</b>'
        f"<small>{escape(_of(own, same, ranked_by))}</small>{mark}</div>{cells}</div>"
    )


def _rank(own: RankedEntry) -> str:
    return f"#{own.rank}" if own.rank is not None else "no rank"


def _of(own: RankedEntry, same: Sequence[RankedEntry], ranked_by: Metric) -> str:
    ranked = sum(entry.rank is not None for entry in same)
    if own.rank is None:
        return name(own.note, 160)
    surely = (
        f", surely {own.best_rank} to {own.worst_rank}"
        if own.best_rank is not None and own.best_rank != own.worst_rank
        else ""
    )
    return f"of {ranked} by {ranked_by.title}{surely}"


def _figure(metric: Metric, figure: HeadlineFigure | None) -> str:
    if figure is None or figure.value is None:
        return ""
    ends = (
        interval(figure.low, figure.high, metric.unit)
        if figure.low is not None and figure.high is not None
        else "no interval"
    )
    return (
        f'<div><b>{number(figure.value, metric.unit)}</b><small class="span">{ends}</small>'
        f"<small>{escape(titled(metric.title, metric.unit))}</small></div>"
    )


def _pictures(run: RunFacts) -> None:
    """Four of its outputs, spread over its samples."""
    try:
        outputs = spread(ask(shown_outputs, run.submission_id, CANDIDATES))
    except NoBoard:
        return
    store = open_store(settings().objects, settings().s3_endpoint)
    pictures = row_addresses(store, {output.sample_id: output for output in outputs}, WIDTH)
    if pictures:
        tiles = "".join(_tile(run, *picture) for picture in pictures.items())
        st.html(f'<div class="arm-pictures card">{tiles}</div>')


def _tile(run: RunFacts, sample: str, picture: str) -> str:
    """One output, which leads to all that is known of it."""
    look = escape(f"samples?{urlencode({'run': run.run_id, 'sample': sample})}")
    alt = escape(f"Output for {name(sample, 100)}, look closer")
    return f'<a data-turn="1" href="{look}"><img src="{picture}" alt="{alt}"></a>'


def spread(outputs: Sequence[ShownOutput], most: int = PICTURES) -> list[ShownOutput]:
    """A few of many, evenly apart, and no file twice."""
    distinct = list({output.media_sha256: output for output in outputs}.values())
    step = max(1, len(distinct) // most)
    return distinct[::step][:most]


def _links(run: RunFacts, settled: Settled) -> None:
    with st.container(horizontal=True):
        params = {**settled.choice.params(), "board": run.board}
        link("ranking", "Open in ranking", params, ":material/leaderboard:")
        link("samples", "Samples", {"run": run.run_id}, ":material/image_search:")
        link("compare", "Compare", {"runs": run.run_id}, ":material/compare_arrows:")
        st.link_button(
            "Receipt", f"/api/v1/runs/{run.run_id}/receipt", icon=":material/receipt_long:"
        )

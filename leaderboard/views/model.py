"""Model: one entry with everything about it: profile, history, settings, provenance, files,
citation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from infra.tables import Submission
from leaderboard.draw import charts, frames
from leaderboard.draw.words import TRUST, escaped, name, plain, titled
from leaderboard.queries import addresses, entries, ranking, samples
from leaderboard.queries.samples import RunFacts
from leaderboard.selection.settle import best_runs
from leaderboard.widgets.citation import cite_entry
from leaderboard.widgets.common import ask, downloads, draw, pick
from leaderboard.widgets.remarks import remarks
from leaderboard.widgets.result_card import result_card
from leaderboard.widgets.standing import standing


def page() -> None:
    """Draw the selector of entries and everything about the chosen one."""
    st.title("Model")
    titles = {
        entry.id: f"{name(entry.model, 60)} · {name(entry.organisation, 40)} · {entry.suite}"
        for entry in ask(entries.recent_submissions)
    }
    best = (
        run.submission_id for run_id in ask(best_runs) if (run := ask(samples.run_facts, run_id))
    )
    submission_id = st.query_params.get("id") or next(best, "") or next(iter(titles), "")
    submission = ask(entries.submission, submission_id) if submission_id else None
    if submission is None:
        st.info(
            "There is no such entry. Choose one here."
            if titles
            else "Here stands one entry with its rank, figures, pictures, settings and how to cite "
            "it. Nothing was handed in yet: the page Submit says how.",
            icon=":material/info:",
        )
    if titles:
        options = (
            titles
            if not submission or submission.id in titles
            else {submission.id: name(submission.model, 60), **titles}
        )
        pick("id", "Entry", list(options), submission_id, options.__getitem__, width=520)
    if submission:
        _entry(submission)


def _entry(submission: Submission) -> None:
    st.header(escaped(submission.model), anchor=False)
    about = (submission.organisation, f"team {submission.team}", f"suite {submission.suite}")
    state = "" if submission.state == "published" else f" · state {submission.state}"
    st.markdown(
        f"{escaped(' · '.join(filter(None, about)), 400)} · trust {TRUST[submission.trust]}{state}"
    )
    if submission.reason:
        st.caption(escaped(submission.reason, 500))
    runs = _best_known_first(ask(samples.runs, None, submission.id))
    for run in runs[:1]:
        result_card(run)
    remarks(submission.id)
    cite_entry(submission, runs)
    _everywhere(submission)
    for run in runs:
        _run(run)
    _history(submission)
    settings, origin = st.columns(2)
    with settings:
        st.subheader("Settings", anchor=False)
        _facts(_settings(submission.manifest))
    with origin:
        st.subheader("Provenance", anchor=False)
        _facts(_origin(submission, runs))


def _best_known_first(runs: Sequence[RunFacts]) -> list[RunFacts]:
    """The run whose board the ranking page opens, then the others, newest first."""
    front = ask(best_runs, runs[0].suite) if runs else []
    return sorted(runs, key=lambda run: run.run_id not in front)


def _everywhere(submission: Submission) -> None:
    """The same model on every suite and board, one row a run."""
    ids = [
        sibling.id
        for sibling in ask(entries.siblings, submission.model, submission.organisation)
        if sibling.trust != "C"
    ]
    runs = [run for sibling_id in ids for run in ask(samples.runs, None, sibling_id)]
    whole = {
        figure.run_id: figure
        for figure in ask(entries.whole_figures, tuple(run.run_id for run in runs))
    }
    titles = {
        (metric.suite, metric.name): titled(metric.title, metric.unit)
        for metric in ask(entries.all_metrics)
    }
    rows = [
        {
            "Suite": run.suite,
            "Metric": titles.get((run.suite, figure.metric), figure.metric),
            "Value": figure.value,
            "From": figure.low,
            "To": figure.high,
            "n/N": f"{figure.n_scored}/{figure.n_expected}",
            "Judge": name(run.judge_name, 40),
            "Version": run.version,
            "Samples": run.subset,
            "Published": run.published_at,
            "Open": f"model?{urlencode({'id': run.submission_id})}",
        }
        for run in runs
        if (figure := whole.get(run.run_id))
    ]
    if len(rows) < 2:
        return
    st.subheader("Everywhere", anchor=False, help="The same model on every suite and board.")
    frame = pd.DataFrame(rows).round(dict.fromkeys(("Value", "From", "To"), 3))
    columns: Any = {
        "Open": st.column_config.LinkColumn(display_text="entry"),
        "Published": st.column_config.DatetimeColumn(format="YYYY-MM-DD", timezone="UTC"),
    }
    st.dataframe(frame, hide_index=True, placeholder="—", column_config=columns)
    downloads(frame, f"armillary-{submission.id}-everywhere")


def _run(run: RunFacts) -> None:
    metrics = ask(ranking.metrics, run.suite)
    figures = ask(entries.figures_of, (run.run_id,))
    st.subheader(escaped(f"Profile by {run.judge_name}"), anchor=False)
    st.caption(
        f"Board {escaped(run.board)}, {run.n_scored}/{run.n_expected} samples scored. "
        f"{escaped(run.why_not, 200)}"
    )
    points = frames.profile(
        figures, metrics, "scenario", ask(addresses.facet_order, run.suite)["scenario"]
    )
    titles = list(dict.fromkeys(points["metric"]))
    if not titles:
        st.caption(
            "Its headline figures stand in parts only; the card above and the files have them."
        )
    for column, title in zip(st.columns(max(len(titles), 1)), titles, strict=False):
        with column:
            draw(
                charts.profile(points[points["metric"] == title], title),
                key=f"profile-{run.run_id}-{title}",
            )
    downloads(frames.cell_table(figures), f"armillary-{run.run_id}-cells")
    standing(run)


def _history(submission: Submission) -> None:
    """The first metric over all, for every entry of this model and every judge."""
    ids = [
        sibling.id
        for sibling in ask(entries.siblings, submission.model, submission.organisation)
        if sibling.suite == submission.suite
    ]
    runs = [run for sibling_id in ids for run in ask(samples.runs, submission.suite, sibling_id)]
    metric = ask(ranking.metrics, submission.suite)[0]
    whole = {
        figure.run_id: figure
        for figure in ask(entries.whole_figures, tuple(run.run_id for run in runs))
    }
    rows = [
        {
            "at": run.published_at,
            "judge": name(run.judge_name, 40),
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
        }
        for run in runs
        if (figure := whole.get(run.run_id))
    ]
    if len(rows) < 2:
        return
    st.subheader("History", anchor=False)
    draw(charts.history(pd.DataFrame(rows), titled(metric.title, metric.unit)), key="history")


def _settings(manifest: dict[str, Any]) -> dict[str, Any]:
    model = {f"model: {plain(key)}": value for key, value in manifest.get("model", {}).items()}
    sampling = {
        f"sampling: {plain(key)}": value for key, value in manifest.get("sampling", {}).items()
    }
    disclosure = {
        f"disclosure: {plain(key)}": value for key, value in manifest.get("disclosure", {}).items()
    }
    return {**model, **sampling, **disclosure}


def _origin(submission: Submission, runs: Sequence[RunFacts]) -> dict[str, Any]:
    facts = {
        "entry": submission.id,
        "handed in": f"{submission.created_at:%Y-%m-%d %H:%M} UTC",
        "kind": submission.kind,
        "suite version": submission.suite_version,
        "samples": submission.subset,
        "bundle SHA-256": submission.bundle_sha256,
        "paper": submission.manifest.get("link", ""),
    }
    judged = {
        f"run {run.run_id}": f"judge {run.judge_name} ({run.judge[:12]}), board {run.board}"
        for run in runs
    }
    return {key: value for key, value in {**facts, **judged}.items() if value}


def _facts(facts: dict[str, Any]) -> None:
    st.html(
        fact_table({key: str(value) for key, value in facts.items() if value not in (None, "")})
    )


def fact_table(facts: Mapping[str, str]) -> str:
    """Names and values, each whole however long it is.

    >>> "<td>&lt;b&gt;</td>" in fact_table({"model: Name": "<b>"})
    True
    """
    rows = "".join(
        f'<tr><th scope="row">{escape(name(key, 60))}</th><td>{escape(name(value, 300))}</td></tr>'
        for key, value in facts.items()
    )
    return f'<table class="arm-table"><tbody>{rows}</tbody></table>'

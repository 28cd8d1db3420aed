"""Model: one entry with everything about it: profile, history, settings, provenance, files, citation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from infra.tables import Submission
from leaderboard import behind, charts, entries, frames, places, queries
from leaderboard.behind import RunFacts
from leaderboard.views.standing import standing
from leaderboard.widgets import ask, downloads, draw, link, pick
from leaderboard.words import TRUST, escaped, long_text, name, plain, titled


def page() -> None:
    """Choose an entry, see all of it."""
    st.title("Model")
    known = {
        one.id: f"{name(one.model, 60)} · {name(one.organisation, 40)} · {one.suite}" for one in ask(entries.handed_in)
    }
    wanted = st.query_params.get("id") or next(iter(known), "")
    found = ask(entries.submission, wanted) if wanted else None
    if found is None:
        st.info(
            "There is no such entry. Choose one here." if known else "Nothing was handed in yet.",
            icon=":material/info:",
        )
    if known:
        options = known if not found or found.id in known else {found.id: name(found.model, 60), **known}
        pick("id", "Entry", list(options), wanted, options.__getitem__, width=520)
    if found:
        _entry(found)


def _entry(found: Submission) -> None:
    st.header(escaped(found.model), anchor=False)
    about = (found.organisation, f"team {found.team}", f"suite {found.suite}", f"state {found.state}")
    st.markdown(f"{escaped(' · '.join(filter(None, about)), 400)} · trust {TRUST[found.trust]}")
    if found.reason:
        st.caption(escaped(found.reason, 500))
    _everywhere(found)
    runs = ask(behind.runs, None, found.id)
    for run in runs:
        _run(run)
    _history(found)
    settings, origin = st.columns(2)
    with settings:
        st.subheader("Settings", anchor=False)
        _facts(_settings(found.manifest))
    with origin:
        st.subheader("Provenance", anchor=False)
        _facts(_origin(found, runs))
    _citation(found)


def _everywhere(found: Submission) -> None:
    """The same model on every suite and board, one row a run."""
    ids = [one.id for one in ask(entries.siblings, found.model, found.organisation) if one.trust != "C"]
    runs = [run for one in ids for run in ask(behind.runs, None, one)]
    whole = {one.run_id: one for one in ask(entries.whole_figures, tuple(run.run_id for run in runs))}
    titles = {(one.suite, one.name): titled(one.title, one.unit) for one in ask(entries.all_metrics)}
    rows = [
        {
            "Suite": run.suite,
            "Metric": titles.get((run.suite, one.metric), one.metric),
            "Value": one.value,
            "From": one.low,
            "To": one.high,
            "n/N": f"{one.n_scored}/{one.n_expected}",
            "Judge": name(run.judge_name, 40),
            "Version": run.version,
            "Samples": run.subset,
            "Published": run.published_at,
            "Open": f"model?{urlencode({'id': run.submission_id})}",
        }
        for run in runs
        if (one := whole.get(run.run_id))
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
    downloads(frame, f"armillary-{found.id}-everywhere")


def _run(run: RunFacts) -> None:
    metrics = ask(queries.metrics, run.suite)
    figures = ask(entries.figures_of, (run.run_id,))
    st.subheader(escaped(f"Profile by {run.judge_name}"), anchor=False)
    st.caption(
        f"Board {escaped(run.board)}, {run.n_scored}/{run.n_expected} samples scored. {escaped(run.why_not, 200)}"
    )
    points = frames.profile(figures, metrics, "scenario", ask(places.facet_order, run.suite)["scenario"])
    titles = list(dict.fromkeys(points["metric"]))
    for column, title in zip(st.columns(max(len(titles), 1)), titles, strict=False):
        with column:
            draw(charts.profile(points[points["metric"] == title], title), key=f"profile-{run.run_id}-{title}")
    with st.container(horizontal=True):
        link("samples", "Samples", {"run": run.run_id}, ":material/image_search:")
        link("compare", "Compare", {"runs": run.run_id}, ":material/compare_arrows:")
    downloads(frames.cell_table(figures), f"armillary-{run.run_id}-cells")
    standing(run)


def _history(found: Submission) -> None:
    """The first metric over all, for every entry of this model and every judge."""
    ids = [one.id for one in ask(entries.siblings, found.model, found.organisation) if one.suite == found.suite]
    runs = [run for one in ids for run in ask(behind.runs, found.suite, one)]
    metric = ask(queries.metrics, found.suite)[0]
    whole = {one.run_id: one for one in ask(entries.whole_figures, tuple(run.run_id for run in runs))}
    rows = [
        {
            "at": run.published_at,
            "judge": name(run.judge_name, 40),
            "value": one.value,
            "low": one.low,
            "high": one.high,
        }
        for run in runs
        if (one := whole.get(run.run_id))
    ]
    if len(rows) < 2:
        return
    st.subheader("History", anchor=False)
    draw(charts.history(pd.DataFrame(rows), titled(metric.title, metric.unit)), key="history")


def _settings(manifest: dict[str, Any]) -> dict[str, Any]:
    model = {f"model: {plain(key)}": value for key, value in manifest.get("model", {}).items()}
    sampling = {f"sampling: {plain(key)}": value for key, value in manifest.get("sampling", {}).items()}
    told = {f"disclosure: {plain(key)}": value for key, value in manifest.get("disclosure", {}).items()}
    return {**model, **sampling, **told}


def _origin(found: Submission, runs: Sequence[RunFacts]) -> dict[str, Any]:
    facts = {
        "entry": found.id,
        "handed in": f"{found.created_at:%Y-%m-%d %H:%M} UTC",
        "kind": found.kind,
        "suite version": found.suite_version,
        "samples": found.subset,
        "bundle SHA-256": found.bundle_sha256,
        "paper": found.manifest.get("link", ""),
    }
    judged = {f"run {run.run_id}": f"judge {run.judge_name} ({run.judge[:12]}), board {run.board}" for run in runs}
    return {key: value for key, value in {**facts, **judged}.items() if value}


def _facts(facts: dict[str, Any]) -> None:
    rows = [
        {"What": name(key, 60), "Value": name(str(value), 300)}
        for key, value in facts.items()
        if value not in (None, "")
    ]
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True, height="content")
    else:
        st.caption("Nothing was declared.")


def _citation(found: Submission) -> None:
    st.subheader("Citation", anchor=False)
    lines = (
        f"@misc{{armillary-{found.id},",
        f"  title = {{{name(found.model)} on {found.suite} {found.suite_version}}},",
        f"  year = {{{found.created_at:%Y}}},",
        f"  note = {{Armillary, entry {found.id}, bundle {found.bundle_sha256[:16]}}}",
        "}",
    )
    st.code(long_text("\n".join(lines)), language=None)

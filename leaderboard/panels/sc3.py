"""One SC3 rollout: its views in step beside the real one and other entries' of the same start, and
U of each chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from leaderboard.draw.charts import COLOURS
from leaderboard.draw.rollouts import VIEWS, Frames, enlarged, frames_of, strip
from leaderboard.draw.words import escaped, name
from leaderboard.panels import Picture, SampleView
from leaderboard.queries.samples import RunFacts, ScoredSample, item, records, runs
from leaderboard.widgets.common import ask

SMALL = 120
SHOWN = ", ".join(VIEWS)
REAL = "real"
MOST = 4
"""So many rollouts can be looked at beside one."""


@dataclass(frozen=True, slots=True)
class RolloutRow:
    """One rollout of those shown in step: whose it is, and its frames."""

    whose: str
    frames: Frames


def draw(view: SampleView) -> None:
    """A slider over time, the views beside each other, the criteria, the trace of U with frames
    under it."""
    read = view.record.get("value")
    if isinstance(read, Mapping):
        _criteria(read)
    own = _frames(view, view.item)
    rows = [RolloutRow(view.run.model, own)] if own is not None else []
    rows += _beside(view)
    if rows:
        _in_step(view.item.sample_id, rows)
    else:
        st.caption("The frames of this rollout cannot be had now.")
    if isinstance(read, Mapping) and read.get("u_chunk"):
        _trace(read, own)


def input_picture(view: SampleView) -> Picture | None:
    """Where a rollout starts: its three views side by side."""
    return _strip(view, 0, "The start")


def output_picture(view: SampleView) -> Picture | None:
    """Where it ends."""
    return _strip(view, -1, "The end")


def _strip(view: SampleView, at: int, words: str) -> Picture | None:
    frames = _frames(view, view.item)
    if frames is None:
        return None
    return Picture(strip(frames, at), f"{words}: {SHOWN}")


def trace(read: Mapping[str, Any]) -> alt.LayerChart | alt.FacetChart:
    """U of each chunk and the tau it must not exceed; the chunk that was thrown away is marked."""
    stopped, tau = read.get("terminated_at"), read.get("tau")
    rows = [
        {"chunk": number, "U": value, "kept": "stopped here" if number == stopped else "kept"}
        for number, value in enumerate(read["u_chunk"])
    ]
    chart = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("chunk:O", title="Chunk", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("U:Q", title=f"U ({read.get('action_space', 'normalised')} actions)"),
    )
    colours = alt.Scale(domain=["kept", "stopped here"], range=[COLOURS[0], COLOURS[5]])
    dots = chart.mark_point(filled=True, size=80, opacity=1).encode(
        color=alt.Color("kept:N", title=None, scale=colours, legend=alt.Legend(orient="top"))
    )
    return alt.layer(chart.mark_line(color=COLOURS[0]), dots, *_threshold(tau)).properties(
        height=260
    )


def _threshold(tau: float | None) -> list[alt.Chart]:
    if tau is None:
        return []
    at = alt.Chart(pd.DataFrame({"tau": [tau], "words": [f"tau {tau:g}"]})).encode(y="tau:Q")
    words = at.mark_text(align="left", baseline="bottom", dx=4, dy=-2, color="#808495").encode(
        text="words:N", x=alt.value(0)
    )
    return [at.mark_rule(strokeDash=[5, 4], color="#808495"), words]


def moments(frames: int, count: int = 4) -> list[int]:
    """Frames evenly spaced from the first to the last.

    >>> moments(33), moments(2)
    ([0, 11, 21, 32], [0, 1])
    """
    return sorted({int(at) for at in np.linspace(0, frames - 1, count).round()})


def _trace(read: Mapping[str, Any], frames: Frames | None) -> None:
    stopped = read.get("terminated_at") is not None
    if "tau" in read and read["tau"] is None:
        st.caption("It has no tau, so nothing stops it.")
    st.altair_chart(trace(read), width="stretch")
    if frames is None:
        return
    indices = moments(frames.shape[1])
    with st.container(horizontal=True):
        for at in indices:
            last = "stopped" if stopped else "the end"
            words = f"Frame {at}: {last}" if at == indices[-1] else f"Frame {at}"
            st.image(enlarged(frames[0, at], SMALL), caption=words, width=SMALL)


def _criteria(read: Mapping[str, Any]) -> None:
    met = read.get("criteria", {})
    verdicts = " · ".join(
        f"{name.replace('_', ' ')}: {'yes' if held else 'no'}" for name, held in met.items()
    )
    st.caption(f"{verdicts}. Said by: {read.get('annotator', 'nobody')}.")


def _frames(view: SampleView, item: ScoredSample | None) -> Frames | None:
    return _file(view, item.media_sha256) if item else None


def _file(view: SampleView, sha256: str) -> Frames | None:
    path = view.fetch(sha256) if sha256 else None
    return frames_of(path) if path else None


def _beside(view: SampleView) -> list[RolloutRow]:
    """What really happened, and the same start in other entries, as many as somebody asks for."""
    others, real = {facts.run_id: facts for facts in _others(view.run)}, _real(view)
    words = {REAL: "What really happened"} if real else {}
    words |= {run: name(facts.model, 50) for run, facts in others.items()}
    if not words:
        return []
    chosen = st.multiselect(
        "Beside it",
        list(words),
        [REAL] if real else [],
        format_func=words.__getitem__,
        max_selections=MOST,
        width=520,
        key=f"beside-{view.run.run_id}-{bool(real)}",
    )
    frames_by_run = {
        run: _frames_of_run(view, others[run]) if run in others else _file(view, real)
        for run in chosen
    }
    for run in [run for run, frames in frames_by_run.items() if frames is None]:
        st.caption(f"{escaped(words[run])}: no rollout from this start can be had now.")
    return [
        RolloutRow(words[run], frames)
        for run, frames in frames_by_run.items()
        if frames is not None
    ]


def _real(view: SampleView) -> str:
    """The hash of the real rollout; an entry that was read before it was kept borrows another's."""
    if own_hash := view.record.get(REAL):
        return str(own_hash)
    return next(
        (
            str(record[REAL])
            for record in ask(records, view.run, view.item.sample_id)
            if record.get(REAL)
        ),
        "",
    )


def _others(run: RunFacts) -> list[RunFacts]:
    """Other entries with rollouts from the same starts, each once however often it was judged."""
    same = [candidate for candidate in ask(runs, run.suite) if candidate.version == run.version]
    return list(
        {
            candidate.submission_id: candidate
            for candidate in same
            if candidate.submission_id != run.submission_id
        }.values()
    )


def _frames_of_run(view: SampleView, other_run: RunFacts) -> Frames | None:
    return _frames(view, ask(item, other_run, "reproduction_average", view.item.sample_id))


def _in_step(sample: str, rows: Sequence[RolloutRow]) -> None:
    """All rollouts at the same moment; one that stopped early stays at its last frame."""
    last = max(row.frames.shape[1] for row in rows) - 1
    at = st.slider("Frame", 0, last, min(last, 16), key=f"frame-{sample}") if last else 0
    for row in rows:
        ended = row.frames.shape[1] - 1
        st.caption(
            f"**{escaped(row.whose)}**" + (f": ended at frame {ended}" if at > ended else "")
        )
        st.image(strip(row.frames, min(at, ended)), caption=SHOWN, width="content")

"""One SC3 rollout: its three views in step beside another entry's of the same start, and U of each chunk."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from leaderboard.behind import Item, item, runs
from leaderboard.panels import Seen, Shown
from leaderboard.widgets import ask
from leaderboard.words import escaped

VIEWS = ("top", "front", "wrist")
WIDTH = 190
Frames = npt.NDArray[np.uint8]


def draw(shown: Shown) -> None:
    """A slider over time, the views beside each other, the criteria, the trace of U."""
    read = shown.record.get("value")
    if isinstance(read, Mapping):
        _criteria(read)
    rows = {shown.run.model: _frames(shown, shown.item), **_beside(shown)}
    known = {name: frames for name, frames in rows.items() if frames is not None}
    if known:
        _in_step(shown.item.sample_id, known)
    else:
        st.caption("The frames of this rollout cannot be had now.")
    if isinstance(read, Mapping) and read.get("u_chunk"):
        st.altair_chart(trace(read), width="stretch")


def given(shown: Shown) -> Seen | None:
    """Where a rollout starts: its three views side by side."""
    return _strip(shown, 0, "The start")


def made(shown: Shown) -> Seen | None:
    """Where it ends."""
    return _strip(shown, -1, "The end")


def _strip(shown: Shown, at: int, words: str) -> Seen | None:
    frames = _frames(shown, shown.item)
    if frames is None:
        return None
    return Seen(np.concatenate([enlarged(view[at]) for view in frames], axis=1), f"{words}: {', '.join(VIEWS)}")


@lru_cache(maxsize=8)
def frames_of(path: Path) -> Frames:
    """The views of a rollout [views, frames, height, width, RGB]; nothing in the file is executed.

    A path is named by its content, so what was read once stays right: a page asks for the same rollout three times.
    """
    with np.load(path, allow_pickle=False) as file:
        if "views" in file.files:
            return np.asarray(file["views"], np.uint8)
        return np.stack([np.asarray(file[f"view_{name}"], np.uint8) for name in VIEWS])


def trace(read: Mapping[str, Any]) -> alt.LayerChart | alt.FacetChart:
    """U of each chunk; the chunk that was thrown away is marked."""
    stopped = read.get("terminated_at")
    rows = [
        {"chunk": number, "U": value, "kept": "stopped here" if number == stopped else "kept"}
        for number, value in enumerate(read["u_chunk"])
    ]
    chart = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("chunk:O", title="Chunk"), y=alt.Y("U:Q", title=f"U ({read.get('action_space', 'normalised')} actions)")
    )
    dots = chart.mark_point(filled=True, size=80).encode(color="kept:N")
    return alt.layer(chart.mark_line(), dots).properties(height=180)


def _criteria(read: Mapping[str, Any]) -> None:
    met = read.get("criteria", {})
    said = " · ".join(f"{name.replace('_', ' ')}: {'yes' if held else 'no'}" for name, held in met.items())
    st.caption(f"{said}. Said by: {read.get('annotator', 'nobody')}.")


def _frames(shown: Shown, item: Item | None) -> Frames | None:
    path = shown.fetch(item.media_sha256) if item and item.media_sha256 else None
    return frames_of(path) if path else None


def _beside(shown: Shown) -> dict[str, Frames | None]:
    """The same start in another entry, if somebody asks for one."""
    others = {one.run_id: one for one in ask(runs) if one.suite == "sc3" and one.run_id != shown.run.run_id}
    if not others:
        return {}
    words = {"": "nobody", **{name: one.model for name, one in others.items()}}
    chosen = st.selectbox("Beside it", list(words), format_func=words.__getitem__, width=320)
    if not chosen:
        return {}
    found = ask(item, others[chosen], "reproduction_average", shown.item.sample_id)
    return {f"{words[chosen]} (beside)": _frames(shown, found)}


def _in_step(name: str, rows: Mapping[str, Frames]) -> None:
    """All rollouts at the same moment; one that stopped early stays at its last frame."""
    last = max(frames.shape[1] for frames in rows.values()) - 1
    at = st.slider("Frame", 0, last, min(last, 16), key=f"frame-{name}") if last else 0
    for model, frames in rows.items():
        st.caption(escaped(model))
        with st.container(horizontal=True):
            for view, pictures in zip(VIEWS, frames, strict=True):
                st.image(enlarged(pictures[min(at, len(pictures) - 1)]), caption=view, width=WIDTH)


def enlarged(picture: Frames) -> Frames:
    """Small pictures are shown with whole pixels, not blurred."""
    times = max(1, WIDTH // picture.shape[1])
    return picture.repeat(times, axis=0).repeat(times, axis=1)

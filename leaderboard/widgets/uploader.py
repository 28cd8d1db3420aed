"""The part of the page that sends a bundle: it runs in the reader's browser and speaks with the
API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import streamlit as st

from infra.tables import Suite

HTML = """
<label>Your team's token <input data-part="token" type="password" autocomplete="off"
  placeholder="arm_..."></label>
<label>A bundle (zip) <input data-part="file" type="file" accept=".zip,application/zip"></label>
<div class="acts">
  <button data-part="send">Hand in</button>
  <button data-part="quota">Quota left</button>
  <button data-part="withdraw">Take back</button>
</div>
<progress data-part="bar" max="1" value="0" aria-label="How far the upload is"></progress>
<p data-part="said" role="status"></p>
"""
CSS = """
:host { font-family: var(--st-font, sans-serif); color: var(--st-text-color); }
label { display: block; margin: .4rem 0; }
input { display: block; width: 100%; max-width: 32rem; padding: .45rem; margin-top: .2rem;
  box-sizing: border-box; border: 1px solid #8888; border-radius: .5rem;
  background: var(--st-secondary-background-color); color: inherit; }
.acts { display: flex; flex-wrap: wrap; gap: .5rem; margin: .6rem 0; }
button { padding: .45rem .9rem; border-radius: .5rem; border: 1px solid #8888; background: none;
  color: inherit; font: inherit; cursor: pointer; }
button[data-part=send] { background: var(--st-primary-color, #0072B2); color: #fff;
  border-color: transparent; }
button:disabled { opacity: .5; cursor: wait; }
progress { width: 100%; max-width: 32rem; }
p { white-space: pre-wrap; overflow-wrap: anywhere; min-height: 1.4em; margin: .3rem 0; }
p[data-wrong=true] { color: #D55E00; }
"""


@cache
def _component() -> Callable[..., Any]:
    script = (files(__package__) / "uploader.js").read_text("utf-8")
    return st.components.v2.component("armillary-uploader", html=HTML, css=CSS, js=script)


def uploader(submission: str, published: bool, suites: Sequence[Suite], most: int) -> str | None:
    """Draw it; give the id of what was just handed in or taken back.

    What the board takes, its suites and how many bytes, is checked before anything is sent.
    """
    takes = {
        suite.name: {"version": suite.version, "subsets": list(suite.subsets)} for suite in suites
    }
    facts = {"api": "/api", "submission": submission, "published": published}
    answer = _component()(
        key="uploader",
        data={**facts, "suites": takes, "most": most},
        on_received_change=_nothing,
        on_withdrawn_change=_nothing,
    )
    return answer.received or answer.withdrawn or None


def _nothing() -> None:
    """A trigger is only sent where somebody listens."""

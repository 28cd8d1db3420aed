"""What is remarked about an entry beside its numbers: by the door, and by a look at all answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from infra.store import StoreError, open_store, report_key
from leaderboard.draw.words import escaped
from leaderboard.queries import samples
from leaderboard.widgets.common import ask, settings

MOST = 6


def remarks(submission_id: str) -> None:
    """Draw the remarks, one line a kind; nothing where there are none."""
    for text in ask(samples.entry_flags, submission_id):
        st.warning(f"{escaped(text, 300)} It may not look at what it is shown.")
    try:
        store = open_store(settings().objects, settings().s3_endpoint)
        report: dict[str, Any] = json.loads(store.get(report_key(submission_id)))
    except (StoreError, ValueError):
        return
    for line in remark_lines(report.get("warnings", []))[:MOST]:
        st.caption(f":material/flag: {escaped(line, 300)}")


def remark_lines(warnings: Sequence[Mapping[str, Any]]) -> list[str]:
    """One sentence a kind of remark, with how often it was made.

    >>> remark_lines([{"code": "W_STATIC", "message": "One colour."}] * 3)
    ['W_STATIC: One colour. (3 times)']
    """
    times = Counter(str(warning["code"]) for warning in warnings)
    first = {str(warning["code"]): str(warning["message"]) for warning in reversed(warnings)}
    return [
        f"{code}: {first[code]}" + (f" ({count} times)" if count > 1 else "")
        for code, count in times.items()
    ]

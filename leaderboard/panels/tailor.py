"""What the Samples page adds for TailOR: what went wrong in an output that did badly."""

from __future__ import annotations

import streamlit as st

from leaderboard.draw.words import escaped, plain
from leaderboard.panels import SampleView
from leaderboard.queries import failures
from leaderboard.widgets.common import ask


def draw(view: SampleView) -> None:
    """The worst fault and the others, in words; nothing for an output that did well."""
    for failure in ask(failures.failures, view.run.run_id, view.item.sample_id):
        others = [plain(mode) for mode in failure.modes if mode != failure.primary]
        worst = plain(failure.primary) if failure.primary else "the judge named none"
        summary = f"Worst fault: **{worst}**." + (f" Also: {', '.join(others)}." if others else "")
        decided = (
            f" Decided by {escaped(failure.decided_by)}: {escaped(failure.reason, 300)}"
            if failure.decided_by
            else ""
        )
        st.warning(summary + decided, icon=":material/troubleshoot:")

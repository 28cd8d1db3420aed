"""What the Samples page adds for TailOR: what went wrong in an output that did badly."""

from __future__ import annotations

import streamlit as st

from leaderboard import failures
from leaderboard.panels import Shown
from leaderboard.widgets import ask
from leaderboard.words import escaped, plain


def draw(shown: Shown) -> None:
    """The worst fault and the others, in words; nothing for an output that did well."""
    for found in ask(failures.failures, shown.run.run_id, shown.item.sample_id):
        others = [plain(mode) for mode in found.modes if mode != found.primary]
        worst = plain(found.primary) if found.primary else "the judge named none"
        said = f"Worst fault: **{worst}**." + (f" Also: {', '.join(others)}." if others else "")
        decided = f" Decided by {escaped(found.decided_by)}: {escaped(found.reason, 300)}" if found.decided_by else ""
        st.warning(said + decided, icon=":material/troubleshoot:")

"""The trust strip over pages that show entries of one board without its table."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaderboard.draw.trust_strip import strip
from leaderboard.queries.glance.strip import ShownBoard, trust_strip
from leaderboard.queries.samples import RunFacts
from leaderboard.widgets.common import ask


def board_strip(runs: Sequence[RunFacts]) -> None:
    """Draw judge, verdict, samples and completeness of some runs of one board."""
    first = runs[0]
    shown = ShownBoard(
        first.suite,
        first.board,
        first.judge_name,
        first.subset,
        sum(run.n_scored or 0 for run in runs),
        sum(run.n_expected or 0 for run in runs),
    )
    st.html(strip(ask(trust_strip, shown)))

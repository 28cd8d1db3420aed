"""Items: how each question does on judged outputs, the worst first, so that the bank gets better
with every entry."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from infra.tables.findings import ItemStatisticRow
from leaderboard.draw.words import plain
from leaderboard.queries import failures
from leaderboard.widgets.common import ask, downloads

EXPLAIN = (
    "A question is good if some outputs meet it and others do not, if entries that do well "
    "elsewhere meet it more often, and if judges answer it alike. *Not met* is the share of "
    "outputs that do not meet it. *Discrimination* is the correlation of meeting it with the "
    "share of all other questions that the entry meets; below zero it tells the wrong way. "
    "*Judges differ* is the share of outputs on which two judges disagree. *Fell* is the share "
    "that did not count, because the question it hangs on was not met. Nothing is called bad on "
    "fewer than 8 answers."
)
NONE_YET = (
    "Here every question of the bank will stand, the worst first: how many outputs meet it, "
    "whether it tells good entries from bad ones, and where judges differ. The figures come from "
    "judged entries; an operator runs `armillary tailor items`."
)


def page() -> None:
    """Draw the table of questions, worst first."""
    st.title("Items")
    suites = ask(failures.suites_with_items)
    if not suites:
        st.info(NONE_YET, icon=":material/info:")
        return
    rows = ask(failures.item_statistics, suites[0])
    st.markdown(EXPLAIN)
    flagged = [row for row in rows if row.flags]
    st.caption(
        f"{len(rows)} questions shown, {len(flagged)} to look at, version {rows[0].version}, "
        f"computed {rows[0].at:%Y-%m-%d %H:%M} UTC."
    )
    reasons = sorted({flag for row in flagged for flag in row.flags})
    chosen = st.pills("Why", reasons, format_func=plain, key="items-why")
    table = frame([row for row in rows if not chosen or chosen in row.flags])
    st.dataframe(table, hide_index=True, placeholder="—")
    downloads(table, "armillary-items")


def frame(rows: list[ItemStatisticRow]) -> pd.DataFrame:
    """The statistics as a table for readers."""
    return pd.DataFrame(
        [
            {
                "Item": row.instance,
                "Question": row.text or row.question,
                "Why": ", ".join(row.flags),
                "Not met": row.difficulty,
                "Discrimination": row.discrimination,
                "Judges differ": row.disagreement,
                "Fell": row.fallen,
                "Answers": row.n,
                "Entries": row.entries,
            }
            for row in rows
        ]
    ).round(2)

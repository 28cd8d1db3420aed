"""Where in a ranking an entry stands: ranked, without a rank, or there to measure by."""

from __future__ import annotations

from typing import Literal

from leaderboard.queries.ranking import RankedEntry

Group = Literal["ranked", "unranked", "measure"]


def group_of(entry: RankedEntry) -> Group:
    """Where in the table an entry stands."""
    if entry.role != "entry":
        return "measure"
    return "unranked" if entry.rank is None else "ranked"

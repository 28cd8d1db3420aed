"""What an entry is there for: to compete, or as a yardstick that stands beside the ranking and is
never part of it."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["entry", "sanity", "ceiling", "baseline"]
ROLES: tuple[Role, ...] = get_args(Role)

WHY_UNRANKED: dict[str, str] = {
    "entry": "",
    "sanity": "a sanity row: made without looking at what is asked, it must do badly; never ranked",
    "ceiling": "a ceiling: made from the known truth, nothing can do much better; never ranked",
    "baseline": "a baseline: a simple method of ours to measure against; never ranked",
}
"""Said beside the entry."""

"""What a reader has chosen to see; it lives in the page's address, so that a link restores it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from leaderboard.queries.addresses import FiguresAt
from leaderboard.queries.ranking import ALL, FACETS, BoardAddress, RankedEntry

ANY = "all"


@dataclass(frozen=True, slots=True)
class Choice:
    """Every selector of the ranking. Empty is: not said, the page decides."""

    suite: str = ""
    metric: str = ""
    scenario: str = ""
    task: str = ""
    setting: str = ""
    modality: str = ""
    board: str = ""
    by: str = ANY
    trust: str = ANY
    organisation: str = ANY
    weights: str = ANY
    q: str = ""
    sort: str = "best"
    hidden: str = ""
    rows: str = ""

    @property
    def at(self) -> BoardAddress:
        """The address, `*` where nothing was said."""
        return BoardAddress(*(getattr(self, facet) or ALL for facet in FACETS))

    def moved(self, at: BoardAddress) -> Choice:
        """The same choice at another address."""
        return replace(self, **{facet: getattr(at, facet) for facet in FACETS})

    def params(self) -> dict[str, str]:
        """As the page's address holds it: facets always, the rest where it differs from showing
        everything."""
        silent = {
            "by": ANY,
            "trust": ANY,
            "organisation": ANY,
            "weights": ANY,
            "q": "",
            "board": "",
            "sort": "best",
            "hidden": "",
            "rows": "",
        }
        return {key: value for key, value in asdict(self).items() if silent.get(key) != value}


def read(params: Mapping[str, str]) -> Choice:
    """The choice that an address holds; what it does not know is left out."""
    fields = {key: params[key] for key in asdict(Choice()) if params.get(key)}
    return Choice(**fields)


def nearest(places: Sequence[FiguresAt], target: BoardAddress) -> BoardAddress:
    """The address itself if it has figures, else the one that shares most with it, then the one
    with most figures."""
    if not places or any(place.at == target for place in places):
        return target

    def worth(place: FiguresAt) -> tuple[int, bool, int, int]:
        fixed_facets = [facet for facet in FACETS if getattr(target, facet) != ALL]
        shared = sum(getattr(place.at, facet) == getattr(target, facet) for facet in fixed_facets)
        return (
            shared,
            place.ours > 0,
            place.ours + place.papers,
            sum(getattr(place.at, facet) == ALL for facet in FACETS),
        )

    return max(places, key=worth).at


def fullest(entries: Sequence[RankedEntry]) -> str:
    """The board of ours with most entries, automatic judges before people; empty if there is
    none."""
    boards = Counter(
        (entry.evaluator != "human", entry.board) for entry in entries if entry.trust != "C"
    )
    return max(boards, key=lambda board: (boards[board], board[0]), default=(False, ""))[1]


SORTS = {"best": "Best first", "worst": "Worst first", "newest": "Newest first", "name": "By name"}
"""Best is what the metric's direction makes it."""


def in_order(entries: Sequence[RankedEntry], sort: str) -> list[RankedEntry]:
    """Entries that come best first, in another order; what has no value stays last."""
    if sort == "newest":
        return sorted(
            entries,
            key=lambda entry: entry.published_at.timestamp() if entry.published_at else 0.0,
            reverse=True,
        )
    if sort == "name":
        return sorted(entries, key=lambda entry: entry.model.casefold())
    if sort == "worst":
        valued = [entry for entry in entries if entry.value is not None]
        return [*reversed(valued), *(entry for entry in entries if entry.value is None)]
    return list(entries)


def matching(entries: Sequence[RankedEntry], choice: Choice) -> list[RankedEntry]:
    """The entries that pass the choice's filters."""
    search_text = choice.q.casefold()
    return [
        entry
        for entry in entries
        if choice.by in (ANY, entry.evaluator)
        and choice.trust in (ANY, entry.trust)
        and choice.organisation in (ANY, entry.organisation)
        and choice.weights in (ANY, entry.weights)
        and search_text in f"{entry.model} {entry.organisation} {entry.team}".casefold()
    ]

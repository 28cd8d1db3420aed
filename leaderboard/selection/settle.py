"""From a reader's incomplete choice to a complete one: open selectors are filled with an address
that has figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from sqlmodel import Session

from infra.tables import Metric, Suite
from leaderboard.queries import addresses, ranking
from leaderboard.queries.addresses import FiguresAt
from leaderboard.queries.ranking import ALL, FACETS, BoardAddress, RankedEntry
from leaderboard.queries.trust import notices
from leaderboard.selection.choice import ANY, Choice, fullest, nearest


@dataclass(frozen=True, slots=True)
class Settled:
    """A choice without gaps, and what there is to choose from."""

    choice: Choice
    suites: tuple[Suite, ...]
    metrics: tuple[Metric, ...]
    places: tuple[FiguresAt, ...]

    @property
    def suite(self) -> Suite:
        """The chosen suite."""
        return next(suite for suite in self.suites if suite.name == self.choice.suite)

    @property
    def metric(self) -> Metric:
        """The chosen metric."""
        return next(metric for metric in self.metrics if metric.name == self.choice.metric)


@dataclass(frozen=True, slots=True)
class Leaders:
    """Who is in front in one suite, where the ranking page would open.

    `notice` says why nobody is, where the board's judge may not rank; its entries are left out.
    """

    settled: Settled
    ours: tuple[RankedEntry, ...]
    papers: tuple[RankedEntry, ...]
    unranked: tuple[RankedEntry, ...] = ()
    notice: str = ""


def settle(db: Session, wish: Choice) -> Settled | None:
    """Fill in what a choice leaves open; if it names no facet, go where figures are. None on an
    empty board."""
    suites = tuple(ranking.suites(db))
    if not suites:
        return None
    suite = wish.suite if wish.suite in [suite.name for suite in suites] else suites[0].name
    metrics = tuple(ranking.metrics(db, suite))
    metric = _metric(db, suite, wish.metric, [metric.name for metric in metrics])
    known_places = tuple(addresses.places(db, suite, metric))
    chosen = replace(wish, suite=suite, metric=metric)
    named = any(getattr(wish, facet) for facet in FACETS)
    return Settled(
        chosen.moved(wish.at if named else nearest(known_places, BoardAddress())),
        suites,
        metrics,
        known_places,
    )


def moved(db: Session, choice: Choice) -> Choice:
    """After another suite or metric was chosen: keep of the address what has figures there."""
    settled = settle(db, choice)
    if settled is None:
        return choice
    values_by_facet = addresses.facet_values(settled.places)
    at = asdict(settled.choice.at)
    reachable = BoardAddress(
        **{facet: value if value in values_by_facet[facet] else ALL for facet, value in at.items()}
    )
    return replace(settled.choice, board="", organisation=ANY).moved(
        nearest(settled.places, reachable)
    )


def leaders(db: Session, limit: int = 3) -> list[Leaders]:
    """The front of every suite's board."""
    fronts = []
    for suite in ranking.suites(db):
        settled = settle(db, Choice(suite=suite.name))
        if settled:
            entries = ranking.ranking(db, suite.name, settled.choice.metric, settled.choice.at)
            best_is_high = settled.metric.direction == "higher"
            papers = best_first([entry for entry in entries if entry.trust == "C"], best_is_high)
            board = fullest(entries)
            ours = [entry for entry in entries if entry.rank is not None and entry.board == board]
            sights = notices(db, {entry.board for entry in entries if entry.trust != "C"})
            withheld = {name for name, sight in sights.items() if not sight.ranked}
            without_rank = [
                entry
                for entry in entries
                if entry.trust != "C" and entry.rank is None and entry.value is not None
                if entry.board not in withheld
            ]
            text = sights[board].text if board in sights else ""
            unranked = best_first(without_rank, best_is_high)[:limit]
            fronts.append(
                Leaders(settled, tuple(ours[:limit]), tuple(papers[:limit]), tuple(unranked), text)
            )
    return fronts


def best_first(entries: Sequence[RankedEntry], best_is_high: bool) -> list[RankedEntry]:
    """Figures without ranks, the best on top."""
    return sorted(entries, key=lambda entry: (entry.value or 0.0) * (-1 if best_is_high else 1))


def _metric(db: Session, suite: str, wish: str, names: Sequence[str]) -> str:
    if wish in names:
        return wish
    return next((name for name in names if addresses.has_figures(db, suite, name)), names[0])

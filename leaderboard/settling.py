"""From what a reader said to what is shown: gaps in a choice are filled with where figures are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from sqlmodel import Session

from infra.tables import Metric, Suite
from leaderboard import places, queries
from leaderboard.choice import ANY, Choice, fullest, nearest
from leaderboard.places import Place
from leaderboard.queries import ALL, FACETS, Address, Entry


@dataclass(frozen=True, slots=True)
class Settled:
    """A choice without gaps, and what there is to choose from."""

    choice: Choice
    suites: tuple[Suite, ...]
    metrics: tuple[Metric, ...]
    places: tuple[Place, ...]

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
    """Who is in front in one suite, where the ranking page would open."""

    settled: Settled
    ours: tuple[Entry, ...]
    papers: tuple[Entry, ...]
    unranked: tuple[Entry, ...] = ()


def settle(db: Session, said: Choice) -> Settled | None:
    """Fill in what a choice leaves open; if it names no facet, go where figures are. None on an empty board."""
    suites = tuple(queries.suites(db))
    if not suites:
        return None
    suite = said.suite if said.suite in [one.name for one in suites] else suites[0].name
    metrics = tuple(queries.metrics(db, suite))
    metric = _metric(db, suite, said.metric, [one.name for one in metrics])
    found = tuple(places.places(db, suite, metric))
    choice = replace(said, suite=suite, metric=metric)
    named = any(getattr(said, facet) for facet in FACETS)
    return Settled(choice.moved(said.at if named else nearest(found, Address())), suites, metrics, found)


def moved(db: Session, said: Choice) -> Choice:
    """After another suite or metric was chosen: keep of the address what has figures there."""
    settled = settle(db, said)
    if settled is None:
        return said
    known = places.facet_values(settled.places)
    at = asdict(settled.choice.at)
    kept = Address(**{facet: value if value in known[facet] else ALL for facet, value in at.items()})
    return replace(settled.choice, board="", organisation=ANY).moved(nearest(settled.places, kept))


def leaders(db: Session, most: int = 3) -> list[Leaders]:
    """The front of every suite's board."""
    found = []
    for suite in queries.suites(db):
        settled = settle(db, Choice(suite=suite.name))
        if settled:
            entries = queries.ranking(db, suite.name, settled.choice.metric, settled.choice.at)
            best_is_high = settled.metric.direction == "higher"
            papers = best_first([entry for entry in entries if entry.trust == "C"], best_is_high)
            board = fullest(entries)
            ours = [entry for entry in entries if entry.rank is not None and entry.board == board]
            rest = [entry for entry in entries if entry.trust != "C" and entry.rank is None and entry.value is not None]
            unranked = best_first(rest, best_is_high)[:most]
            found.append(Leaders(settled, tuple(ours[:most]), tuple(papers[:most]), tuple(unranked)))
    return found


def best_first(entries: Sequence[Entry], best_is_high: bool) -> list[Entry]:
    """Figures without ranks, the best on top."""
    return sorted(entries, key=lambda entry: (entry.value or 0.0) * (-1 if best_is_high else 1))


def _metric(db: Session, suite: str, said: str, names: Sequence[str]) -> str:
    if said in names:
        return said
    return next((name for name in names if places.has_figures(db, suite, name)), names[0])

"""From a reader's incomplete choice to a complete one: open selectors are filled with an address
that has figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from sqlmodel import Session

from infra.tables import Metric, Suite
from leaderboard.queries import addresses, ranking
from leaderboard.queries.addresses import FiguresAt
from leaderboard.queries.glance.headlines import INDEX
from leaderboard.queries.glance.strip import TrustStrip, shown_board, trust_strip
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
    `facts` says how far to trust the board that is shown, `example` is an entry of it to look at,
    and `printed` is where the papers' figures stand.
    """

    settled: Settled
    ours: tuple[RankedEntry, ...]
    papers: tuple[RankedEntry, ...]
    unranked: tuple[RankedEntry, ...] = ()
    notice: str = ""
    facts: TrustStrip | None = None
    example: RankedEntry | None = None
    printed: Settled | None = None


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
    wishes = [settle(db, Choice(suite=suite.name)) for suite in ranking.suites(db)]
    return [_front(db, settled, limit) for settled in wishes if settled]


def _front(db: Session, settled: Settled, limit: int) -> Leaders:
    chosen, best_is_high = settled.choice, settled.metric.direction == "higher"
    entries = ranking.ranking(db, chosen.suite, chosen.metric, chosen.at)
    board = fullest(entries)
    same = [entry for entry in entries if entry.board == board and entry.trust != "C"]
    ranked = [entry for entry in same if entry.rank is not None]
    sights = notices(db, {entry.board for entry in entries if entry.trust != "C"})
    withheld = {name for name, sight in sights.items() if not sight.ranked}
    without_rank = [
        entry
        for entry in entries
        if entry.trust != "C" and entry.rank is None and entry.value is not None
        if entry.board not in withheld
    ]
    printed = None if ranked else _printed(db, settled)
    entered = [entry for entry in same if entry.role == "entry"]
    return Leaders(
        settled,
        tuple(ranked[:limit]),
        tuple(_papers(db, printed)[:limit]) if printed else (),
        tuple(best_first(without_rank, best_is_high)[:limit]),
        sights[board].text if board in sights else "",
        trust_strip(db, shown_board(chosen.suite, same)) if same else None,
        next(iter([*ranked, *best_first(entered, best_is_high), *same]), None),
        printed,
    )


def _printed(db: Session, settled: Settled) -> Settled | None:
    """Where the papers of a suite print figures: at the address that is shown, else at their
    fullest place for the first metric that has any."""
    if any(place.papers and place.at == settled.choice.at for place in settled.places):
        return settled
    for metric in settled.metrics:
        places = addresses.places(db, settled.suite.name, metric.name)
        fullest_place = max(places, key=lambda place: place.papers, default=None)
        if fullest_place and fullest_place.papers:
            wish = Choice(suite=settled.suite.name, metric=metric.name)
            return settle(db, wish.moved(fullest_place.at))
    return None


def _papers(db: Session, printed: Settled) -> list[RankedEntry]:
    """What a paper prints there by one judge: its automatic one, or people where it has none."""
    chosen = printed.choice
    entries = ranking.ranking(db, chosen.suite, chosen.metric, chosen.at)
    printed_by = {entry.evaluator for entry in entries if entry.trust == "C"}
    by = "auto" if "auto" in printed_by else "human"
    papers = [entry for entry in entries if entry.trust == "C" and entry.evaluator == by]
    return best_first(papers, printed.metric.direction == "higher")


def best_runs(db: Session, suite: str = "") -> list[str]:
    """Runs to open a page on: the ranked of the first suite that has any, best first, then its
    other entries; what only measures comes last."""
    fallback: list[str] = []
    for front in ranking.suites(db):
        settled = settle(db, Choice(suite=front.name)) if suite in ("", front.name) else None
        if settled is None:
            continue
        entries = ranking.ranking(db, front.name, settled.choice.metric, settled.choice.at)
        board = fullest(entries)
        ours = [entry for entry in entries if entry.board == board and entry.trust != "C"]
        ours.sort(key=lambda entry: (entry.rank is None, entry.role != "entry"))
        runs = [entry.run_id for entry in ours]
        if ours and ours[0].rank is not None:
            return runs
        fallback = fallback or runs
    return fallback


def best_first(entries: Sequence[RankedEntry], best_is_high: bool) -> list[RankedEntry]:
    """Figures without ranks, the best on top."""
    return sorted(entries, key=lambda entry: (entry.value or 0.0) * (-1 if best_is_high else 1))


def _metric(db: Session, suite: str, wish: str, names: Sequence[str]) -> str:
    """What was wished; else the suite's index where entries of ours have it, else the first
    metric with figures."""
    if wish in names:
        return wish
    if INDEX in names and any(place.ours for place in addresses.places(db, suite, INDEX)):
        return INDEX
    return next((name for name in names if addresses.has_figures(db, suite, name)), names[0])

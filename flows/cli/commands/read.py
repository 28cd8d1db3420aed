"""The panel Read: a suite's ranking in the terminal, the board as files and as a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.cli.parameters.names import NameWithin, SuiteName
from flows.cli.parameters.paths import NewFolder
from flows.cli.parameters.values import BindAddress
from flows.cli.terminal import plain, reporting_errors, say, show_rows

if TYPE_CHECKING:
    from sqlmodel import Session

    from leaderboard.queries.addresses import FiguresAt
    from leaderboard.queries.ranking import RankedEntry
    from leaderboard.selection.settle import Settled

MOST_ADDRESSES = 8
FACETS = ("scenario", "task", "setting", "modality")
Format = Literal["table", "csv", "json"]
Facet = Annotated[
    str | None,
    typer.Option(parser=NameWithin("facet's value"), help="One value, or * for all together."),
]


def board(
    suite: SuiteName,
    scenario: Facet = None,
    task: Facet = None,
    setting: Facet = None,
    modality: Facet = None,
    metric: Annotated[
        str | None,
        typer.Option(parser=NameWithin("metric"), help="Default: the suite's index, or its first."),
    ] = None,
    format: Annotated[Format, typer.Option("--format")] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Print one board of a suite, as its page opens."""
    from infra.db import session
    from leaderboard.export import text
    from leaderboard.queries.addresses import check_address
    from leaderboard.queries.ranking import metric_named, ranking
    from leaderboard.selection.choice import Choice
    from leaderboard.selection.settle import settle

    with reporting_errors() as settings, session(settings.database) as db:
        named = [value or "" for value in (scenario, task, setting, modality)]
        wish = Choice(suite, metric_named(db, suite, metric).name if metric else "", *named)
        check_address(db, suite, wish.at)
        settled = settle(db, wish)
        assert settled is not None, "metric_named and check_address know an empty board"
        chosen = settled.choice
        entries = ranking(db, suite, chosen.metric, chosen.at)
        if as_json or format == "json":
            sys.stdout.write(text.as_json(entries))
        elif format == "csv":
            sys.stdout.write(text.as_csv(entries))
        else:
            _show_board(db, settled, entries)


def _show_board(db: Session, settled: Settled, entries: list[RankedEntry]) -> None:
    """The fullest board with its head, then what papers print, then where else figures stand."""
    from leaderboard.selection.choice import fullest

    shown = fullest(entries)
    ours = [entry for entry in entries if entry.trust != "C" and entry.board == shown]
    papers = [entry for entry in entries if entry.trust == "C"]
    say(plain(_head(settled)))
    if ours:
        _say_strip(db, settled, ours)
        show_rows([entry.brief() for entry in in_page_order(ours)])
        _say_notices(db, ours, settled.metric.direction == "higher")
    boards = {entry.board for entry in entries if entry.trust != "C"} - {shown}
    if boards:
        say(f"{len(boards)} more boards with other judges or samples: see the page Ranking.")
    if papers:
        say("Figures that papers print, never ranked with the above:")
        show_rows([entry.brief() for entry in papers])
    if all(entry.value is None for entry in entries):
        say("No figure stands here.")
        others = [place for place in settled.places if place.at != settled.choice.at]
        _name_other_addresses(settled.suite.name, others)


def in_page_order(entries: list[RankedEntry]) -> list[RankedEntry]:
    """As the page groups them: the ranked, who has no rank, and what only measures."""
    order = {"ranked": 0, "unranked": 1, "measure": 2}
    from leaderboard.draw.groups import group_of

    return sorted(entries, key=lambda entry: order[group_of(entry)])


def _head(settled: Settled) -> str:
    metric, at = settled.metric, settled.choice.at
    where = ", ".join(f"{f} {getattr(at, f)}" for f in FACETS if getattr(at, f) != "*")
    better = "higher" if metric.direction == "higher" else "lower"
    return (
        f"{settled.suite.title} by {metric.title} ({better} is better){': ' * bool(where)}{where}"
    )


def _say_strip(db: Session, settled: Settled, ours: list[RankedEntry]) -> None:
    """Judge, verdict and samples of the board that is printed."""
    from leaderboard.queries.glance.strip import shown_board, trust_strip

    facts = trust_strip(db, shown_board(settled.suite.name, ours))
    part = f" of {facts.items_of_all}" if facts.is_part else ""
    items = f"{facts.items}{part} samples ({facts.subset})" if facts.items else facts.subset
    say(plain(f"Judge {facts.judge}: {facts.verdict}. {items}."))


def _say_notices(db: Session, entries: list[RankedEntry], best_is_high: bool) -> None:
    """Under the table: why the board has no ranks, which sanity rows are too good."""
    from leaderboard.queries.trust import notices, too_good

    for board, notice in sorted(notices(db, {entry.board for entry in entries}).items()):
        if notice.text:
            say(f"Board {board}. {plain(notice.text)}")
    for sentence in too_good(entries, best_is_high):
        say(f"[red]{plain(sentence)}[/red]")


def export(folder: Annotated[Path, typer.Argument(parser=NewFolder("the files"))]) -> None:
    """Write the whole board as files for any web server."""
    from flows.audit import receipt_files
    from infra.db import session
    from leaderboard.export.static_site import write

    with reporting_errors() as settings, session(settings.database) as db:
        files, receipts = len(write(db, folder)), receipt_files.write(db, folder)
        say(f"{files} files and {receipts} receipts. Open {plain(str(folder / 'index.html'))}.")


def serve(address: BindAddress = "127.0.0.1") -> None:
    """Serve the board's page on this machine."""
    from flows.cli.serve import run_board

    with reporting_errors() as settings:
        say(f"The board: http://{address}:{settings.port}")
    run_board(settings, address)


def _name_other_addresses(suite: str, figures: list[FiguresAt]) -> None:
    """Where the asked address has no figures: name some that have, the board's entries first."""
    for place in sorted(figures, key=lambda place: not place.ours)[:MOST_ADDRESSES]:
        values = {facet: getattr(place.at, facet) for facet in FACETS}
        options = " ".join(f"--{facet} {value}" for facet, value in values.items() if value != "*")
        say(f"Figures stand at: armillary board {suite} {options}")

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

MOST_ADDRESSES = 8
FACETS = ("scenario", "task", "setting", "modality")
Format = Literal["table", "csv", "json"]
Facet = Annotated[
    str, typer.Option(parser=NameWithin("facet's value"), help="One value, or * for all together.")
]


def board(
    suite: SuiteName,
    scenario: Facet = "*",
    task: Facet = "*",
    setting: Facet = "*",
    modality: Facet = "*",
    metric: Annotated[
        str | None, typer.Option(parser=NameWithin("metric"), help="Default: the suite's first.")
    ] = None,
    format: Annotated[Format, typer.Option("--format")] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Print a suite's ranking."""
    from infra.db import session
    from leaderboard.export import text
    from leaderboard.queries.addresses import check_address, places
    from leaderboard.queries.ranking import BoardAddress, metric_named, ranking

    with reporting_errors() as settings, session(settings.database) as db:
        address = BoardAddress(scenario, task, setting, modality)
        check_address(db, suite, address)
        entries = ranking(db, suite, metric, address)
        if as_json or format == "json":
            sys.stdout.write(text.as_json(entries))
        elif format == "csv":
            sys.stdout.write(text.as_csv(entries))
        else:
            show_rows([entry.brief() for entry in entries])
            _say_notices(db, entries, metric_named(db, suite, metric).direction == "higher")
            if all(entry.value is None for entry in entries):
                _name_other_addresses(
                    suite, places(db, suite, metric_named(db, suite, metric).name)
                )


def _say_notices(db: Session, entries: list[RankedEntry], best_is_high: bool) -> None:
    """Under the table: which boards have no ranks and why, which sanity rows are too good."""
    from leaderboard.queries.trust import notices, too_good

    ours = [entry for entry in entries if entry.trust != "C"]
    for board, notice in sorted(notices(db, {entry.board for entry in ours}).items()):
        if notice.text:
            say(f"Board {board}. {plain(notice.text)}")
    for board in sorted({entry.board for entry in ours}):
        listed = [entry for entry in ours if entry.board == board]
        for sentence in too_good(listed, best_is_high):
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

"""The commands by which people review TailOR's open bank: opening it for them, how far they are,
and their records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import BANK_TASK
from flows.cli.parameters.paths import NewFolder
from flows.cli.parameters.values import REVIEWER
from flows.cli.terminal import AsJson, plain, reporting_errors, say, show_rows


def review_bank(
    person: Annotated[
        list[str] | None,
        typer.Option(parser=REVIEWER, help="Who may read or settle; repeat it, three at least."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(parser=BANK_TASK, help="A task; repeat it. Default: all that there are."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Open tasks of the open bank for review by people, and show how far each is.

    Two read each on the page Review (ARMILLARY_REVIEW=true), a third settles. Without --person
    nothing is opened.
    """
    from flows.suites.tailor_reading import SUITE, open_review
    from infra.db import session
    from leaderboard.queries.bank.review import standings

    with reporting_errors() as settings:
        if task and not person:
            raise typer.BadParameter("Nobody is named. Say who reads and settles: --person ada.")
        opened = open_review(settings, task or (), person) if person else 0
        with session(settings.database) as db:
            rows = standings(db, SUITE)
    show_rows(
        [
            {
                "task": row.task,
                "bank": row.version,
                "state": row.state,
                "begun": len(row.begun),
                "read": len(row.read),
                "unsettled": row.unsettled,
                "people": ", ".join(row.people),
            }
            for row in rows
        ],
        as_json,
    )
    say(f"Opened: {opened}. Under review: {len(rows)}.", err=as_json)


def review_export(
    to: Annotated[Path, typer.Argument(parser=NewFolder("the records of a review"))],
) -> None:
    """Write what people found and settled as records, a file a task and person.

    Only tasks that two have read; `review-report --records FOLDER` shows how far they agree.
    """
    from flows.suites.tailor_reading import export

    with reporting_errors() as settings:
        files = export(settings, to)
    say(plain(f"{len(files)} files written into {to}."))

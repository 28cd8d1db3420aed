"""Operators' commands about entries: publish the queue, withdraw, enter a model behind an API,
sanity rows, frozen boards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import SubmissionId, SuiteName
from flows.cli.parameters.paths import MANIFEST
from flows.cli.parameters.values import REASON, By
from flows.cli.terminal import (
    announce,
    exit_on_failure,
    plain,
    progress,
    reporting_errors,
    say,
)


def publish() -> None:
    """Evaluate and publish all waiting submissions.

    Takes up what waits, what was interrupted and what failed by a fault of ours. Exits with status
    1 if one of them fails by a fault of ours again.
    """
    from flows.cli.status import unfinished
    from flows.workers.executor import prepare

    with reporting_errors() as settings, progress():
        prepare(settings)
        from flows.evaluate.backlog import bring, counted
        from flows.suites.yardsticks import stand

        entries = announce(bring(settings, submission_id) for submission_id in unfinished(settings))
        sanity_rows = announce(stand(settings))
        say(
            counted(entries, "submissions brought to the board")
            if entries
            else "Nothing waits: the board is up to date."
        )
        exit_on_failure([*entries, *sanity_rows])


def withdraw(
    submission: SubmissionId,
    why: Annotated[
        str, typer.Option(parser=REASON, help="The reason, for its page.")
    ] = "Withdrawn by the operator.",
) -> None:
    """Mark a submission as withdrawn: unranked, still listed."""
    from flows.publish.publish import withdraw as mark

    with reporting_errors() as settings:
        mark(settings, submission, why)
        say(
            f"{plain(submission)} is withdrawn. The others are ranked without it; nothing was "
            "deleted."
        )


def enter(
    declaration: Annotated[
        Path, typer.Argument(parser=MANIFEST, help="A manifest of kind api, with its endpoint.")
    ],
) -> None:
    """Enter a model behind an image or video API.

    The outputs are generated here, with the API key of this machine.
    """
    from infra.db import session
    from infra.store import open_store
    from submissions.bundle.declarations import read_declaration
    from submissions.intake.api_entry import enter as enter_api

    with reporting_errors(declaration) as settings, session(settings.database) as db:
        store = open_store(settings.objects, settings.s3_endpoint)
        entry = enter_api(db, store, read_declaration(declaration))
        say(f"Entered as {entry.submission_id}. Next: armillary evaluate {entry.submission_id}")


def sanity() -> None:
    """Put the sanity rows onto every board that has entries.

    Rows that are on a board already are not computed again.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings, progress():
        prepare(settings)
        from flows.evaluate.backlog import counted
        from flows.suites.yardsticks import stand

        rows = announce(stand(settings))
        nothing = "No board has entries yet: there is no ranking."
        say(counted(rows, "rows stand beside the ranking") if rows else nothing)
        exit_on_failure(rows)


def thaw(suite: SuiteName, by: By) -> None:
    """Open a suite's frozen boards again.

    Submissions that waited for them go on.
    """
    from infra.db import session

    with reporting_errors() as settings, session(settings.database) as db:
        from flows.publish.freeze import thaw as lift

        opened = lift(db, suite, by)
        say(
            f"{opened} boards of {plain(suite)} are open again."
            if opened
            else f"No board of {plain(suite)} is frozen."
        )

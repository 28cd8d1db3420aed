"""The operator's commands beside the ordinary path: sanity rows, failure modes, models behind an
API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import RUN, NameWithin
from flows.cli.parameters.paths import MANIFEST
from flows.cli.parameters.values import REASON, By
from flows.cli.terminal import announce, leave, plain, progress, say, told


def sanity() -> None:
    """Put the sanity rows onto every board that has entries; what stands there already is not made
    again."""
    from flows.workers.executor import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.evaluate.backlog import counted
        from flows.suites.yardsticks import stand

        rows = announce(stand(settings))
        nothing = "No board has entries yet: there is no ranking."
        say(counted(rows, "rows stand beside the ranking") if rows else nothing)
        leave(rows)


def failure(
    run: Annotated[str, typer.Argument(parser=RUN)],
    sample: Annotated[str, typer.Argument(parser=NameWithin("sample"))],
    mode: Annotated[str, typer.Argument(parser=NameWithin("failure mode"))],
    by: By,
    reason: Annotated[str, typer.Option(parser=REASON, help="Why.")],
) -> None:
    """Say which failure mode counts for a weak output; a person's word stands over the judge's."""
    from flows.evaluate.failure_decisions import decide

    with told() as settings:
        decide(settings, run, sample, mode, by, reason)
        say(plain(f"{sample} counts as {mode} now."))


def enter(
    declaration: Annotated[
        Path, typer.Argument(parser=MANIFEST, help="A manifest of kind api, with its endpoint.")
    ],
) -> None:
    """Enter a model that is behind an image or video API; we generate, with this machine's key."""
    from infra.db import session
    from infra.store import open_store
    from submissions.bundle.declarations import read_declaration
    from submissions.intake.api_entry import enter as enter_api

    with told(declaration) as settings, session(settings.database) as db:
        store = open_store(settings.objects, settings.s3_endpoint)
        found = enter_api(db, store, read_declaration(declaration))
        say(f"Entered as {found.submission_id}. Next: armillary evaluate {found.submission_id}")

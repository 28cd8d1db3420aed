"""Commands about whether to believe the board: verify, audit, withdraw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.terminal import fail, plain, say, told

MOST_SHOWN = 50


def verify(what: Annotated[str, typer.Argument(help="A submission's id, or a receipt from an export.")]) -> None:
    """Recompute every number of a submission from stored artefacts, or of a receipt from the files beside it."""
    if what.endswith(".json") or Path(what).is_file():
        _receipt(Path(what))
        return
    from flows.engine import prepare

    with told() as settings:
        prepare(settings)
        from flows.verify import verify as recompute

        found = recompute(settings, what)
        for line in found.differences[:20]:
            say(f"[red]differs[/red] {plain(line)}")
        say(
            f"{found.files} files, {found.verdicts} verdicts, {found.scores} scores and {found.cells} cells recomputed."
        )
        if found.differences:
            fail(f"{len(found.differences)} do not agree with the board.")
        say("[green]All agree with the board.[/green]")


def audit(
    head: Annotated[str, typer.Option(help="The head that an earlier export names: it must be in the chain.")] = "",
) -> None:
    """Find every row behind a published number that was edited, added or removed outside publication."""
    from flows.audit import audit as look
    from infra.db import session

    with told() as settings, session(settings.database) as db:
        found = look(db, head)
        for line in found.findings[:MOST_SHOWN]:
            say(f"[red]found[/red] {plain(line)}")
        say(f"{found.links} links, {found.rows} rows. {found.unsealed_events} events since the last publication.")
        say(f"Head: {found.head or 'none yet: nothing is published'}")
        if found.findings:
            fail(f"{len(found.findings)} findings. Restore these rows from a backup, or publish the entries again.")
        say("[green]Everything is as it was published.[/green]")


def withdraw(
    submission_id: str,
    why: Annotated[str, typer.Option(help="The reason, for its page.")] = "Withdrawn by the operator.",
) -> None:
    """Mark a submission as withdrawn: it leaves the ranks and stays listed."""
    from flows.publish import withdraw as mark

    with told() as settings:
        mark(settings, submission_id, why)
        say(f"{plain(submission_id)} is withdrawn. The others are ranked without it; nothing was deleted.")


def _receipt(path: Path) -> None:
    from flows.receipt_files import check

    with told():
        if not path.is_file():
            fail(f"There is no file {path}. Give a receipt from an export's receipts folder, or a submission's id.")
        found = check(path)
        for line in found.differences[:20]:
            say(f"[red]differs[/red] {plain(line)}")
        for line in found.notes:
            say(f"[yellow]note[/yellow] {plain(line)}")
        say(f"{found.run}: {found.scores} scores and {found.cells} cells recomputed from the files beside the receipt.")
        if found.differences:
            fail(f"{len(found.differences)} do not agree with the receipt.")
        say("[green]All agree with the receipt.[/green]")

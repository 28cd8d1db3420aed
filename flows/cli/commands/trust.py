"""Commands about whether to believe the board: verify, audit, withdraw, rejudge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import JUDGE, VERIFIED, SubmissionId, SuiteName
from flows.cli.parameters.paths import File
from flows.cli.parameters.values import REASON, SHA256
from flows.cli.terminal import fail, plain, progress, say, table, told

MOST_SHOWN = 50


def verify(
    what: Annotated[
        str, typer.Argument(parser=VERIFIED, help="A submission's id, or a receipt from an export.")
    ],
) -> None:
    """Recompute every number of a submission from stored artefacts, or of a receipt from the files
    beside it."""
    if Path(what).is_file():
        _receipt(Path(what))
        return
    from flows.workers.executor import prepare

    with told() as settings:
        prepare(settings)
        from flows.audit.verify import verify as recompute

        found = recompute(settings, what)
        for line in found.differences[:20]:
            say(f"[red]differs[/red] {plain(line)}")
        say(
            f"{found.files} files, {found.verdicts} verdicts, {found.scores} scores and "
            f"{found.cells} cells recomputed."
        )
        if found.differences:
            fail(f"{len(found.differences)} do not agree with the board.")
        say("[green]All agree with the board.[/green]")


def audit(
    head: Annotated[
        str | None,
        typer.Option(
            parser=SHA256, help="The head that an earlier export names: it must be in the chain."
        ),
    ] = None,
) -> None:
    """Find every row behind a published number that was edited, added or removed outside
    publication."""
    from flows.audit.audit import audit as look
    from infra.db import session

    with told() as settings, session(settings.database) as db:
        found = look(db, head or "")
        for line in found.findings[:MOST_SHOWN]:
            say(f"[red]found[/red] {plain(line)}")
        say(
            f"{found.links} links, {found.rows} rows. {found.unsealed_events} events since the "
            "last publication."
        )
        say(f"Head: {found.head or 'none yet: nothing is published'}")
        if found.findings:
            fail(
                f"{len(found.findings)} findings. Restore these rows from a backup, or publish the "
                "entries again."
            )
        say("[green]Everything is as it was published.[/green]")


def withdraw(
    submission_id: SubmissionId,
    why: Annotated[
        str, typer.Option(parser=REASON, help="The reason, for its page.")
    ] = "Withdrawn by the operator.",
) -> None:
    """Mark a submission as withdrawn: it leaves the ranks and stays listed."""
    from flows.publish.publish import withdraw as mark

    with told() as settings:
        mark(settings, submission_id, why)
        say(
            f"{plain(submission_id)} is withdrawn. The others are ranked without it; nothing was "
            "deleted."
        )


COLUMNS = ("entry", "metric", "rank", "before", "now", "why")


def rejudge(
    suite: SuiteName,
    judge: Annotated[
        str | None,
        typer.Option(
            parser=JUDGE, help="The new judge, as for ARMILLARY_JUDGE. Default: that setting."
        ),
    ] = None,
    changelog: Annotated[
        Path | None,
        typer.Option(
            parser=File("a changelog"), help="A changelog to write the `Scores:` line into."
        ),
    ] = None,
) -> None:
    """Judge and score a suite's stored outputs again, onto the board of a new judge or scorer; the
    old one stays."""
    from flows.workers.executor import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.audit.rejudge import into_changelog
        from flows.audit.rejudge import rejudge as again
        from flows.audit.rejudge import told as row

        found = again(settings, suite, judge or "")
        for one in found:
            say(
                f"Board {one.board_before} → {one.board}: {one.entries} entries, {one.judged} "
                "outputs judged now."
            )
            table([dict(zip(COLUMNS, row(change), strict=True)) for change in one.changes])
            for failure in one.failed:
                say(f"[red]not judged[/red] {plain(failure)}")
            say(plain(one.line))
        if not found:
            say(
                "Every entry stands on the board of this judge and scorer already. Nothing was "
                "done."
            )
        if changelog:
            say(
                f"{into_changelog(changelog, [one.line for one in found])} lines written into "
                f"{plain(str(changelog))}."
            )
        if any(one.failed for one in found):
            fail(
                "Some entries are missing on the new board. The old one stays; run the command "
                "again."
            )


def _receipt(path: Path) -> None:
    from flows.audit.receipt_files import check

    with told():
        found = check(path)
        for line in found.differences[:20]:
            say(f"[red]differs[/red] {plain(line)}")
        for line in found.notes:
            say(f"[yellow]note[/yellow] {plain(line)}")
        numbers = f"{found.scores} scores and {found.cells} cells"
        say(f"{plain(found.run)}: {numbers} recomputed from the files beside the receipt.")
        if found.differences:
            fail(f"{len(found.differences)} do not agree with the receipt.")
        say("[green]All agree with the receipt.[/green]")

"""The panel Trust: recomputing numbers, auditing stored rows, and measuring the judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.parameters.names import JUDGE, SUBMISSION_OR_RECEIPT, SubmissionId, SuiteName
from flows.cli.parameters.paths import ExistingFile
from flows.cli.parameters.values import SHA256, Seed
from flows.cli.terminal import (
    AsJson,
    fail,
    plain,
    progress,
    reporting_errors,
    say,
    show_rows,
)

if TYPE_CHECKING:
    from flows.audit.audit import Audited
    from flows.audit.rejudge import Rejudged

MOST_FINDINGS = 50
MOST_DIFFERENCES = 20
COLUMNS = ("entry", "metric", "rank", "before", "now", "why")

audit = typer.Typer(help="Find edited rows; re-judge; measure the judge.", no_args_is_help=True)


def verify(
    submission: Annotated[
        str,
        typer.Argument(
            parser=SUBMISSION_OR_RECEIPT, help="A submission, or a receipt from an export."
        ),
    ],
) -> None:
    """Recompute every number of a submission or receipt.

    Of a submission from stored artefacts, of a receipt from the files beside it.
    """
    if Path(submission).is_file():
        _verify_receipt(Path(submission))
        return
    from flows.workers.executor import prepare

    with reporting_errors() as settings:
        prepare(settings)
        from flows.audit.verify import verify as recompute

        result = recompute(settings, submission)
        for line in result.differences[:MOST_DIFFERENCES]:
            say(f"[red]differs[/red] {plain(line)}")
        say(
            f"{result.files} files, {result.verdicts} verdicts, {result.scores} scores and "
            f"{result.cells} cells recomputed."
        )
        if result.differences:
            fail(f"{len(result.differences)} do not agree with the board.")
        say("[green]All agree with the board.[/green]")


@audit.command()
def run(
    head: Annotated[
        str | None,
        typer.Option(
            parser=SHA256, help="The head that an earlier export names: it must be in the chain."
        ),
    ] = None,
) -> None:
    """Find rows that were changed outside publication.

    Every row behind a published number that was edited, added or removed is listed.
    """
    from flows.audit.audit import audit as check_rows
    from infra.db import session
    from submissions.teams.lifecycle import record

    with reporting_errors() as settings:
        with session(settings.database) as db:
            result = check_rows(db, head or "")
            record(db, "audit", "audited", _verdict(result))
        for line in result.findings[:MOST_FINDINGS]:
            say(f"[red]found[/red] {plain(line)}")
        say(
            f"{result.links} links, {result.rows} rows. {result.unsealed_events} events since the "
            "last publication."
        )
        say(f"Head: {result.head or 'none yet: nothing is published'}")
        if result.findings:
            fail(
                f"{len(result.findings)} findings. Restore these rows from a backup, or publish "
                "the entries again."
            )
        say("[green]Everything is as it was published.[/green]")


def _verdict(result: Audited) -> str:
    """What the board says of its last audit."""
    found = f"{len(result.findings)} findings" if result.findings else "clean"
    return f"{found}, {result.rows} rows, {result.links} links"


@audit.command()
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
            parser=ExistingFile("a changelog"), help="A changelog to write the `Scores:` line into."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge and score a suite's stored outputs again.

    The results go onto the board of the new judge or scorer; the earlier board stays.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings, progress():
        prepare(settings)
        from flows.audit import rejudge as stored

        boards = stored.rejudge(settings, suite, judge or "")
        _report(boards, as_json)
        if changelog:
            lines = stored.into_changelog(changelog, [board.line for board in boards])
            say(f"{lines} lines written into {plain(str(changelog))}.", err=as_json)
        if any(board.failed for board in boards):
            fail(
                "Some entries are missing on the new board. The old one stays; run the command "
                "again."
            )


def _report(boards: list[Rejudged], as_json: bool) -> None:
    from flows.audit.rejudge import columns

    changes = {
        board.board: [dict(zip(COLUMNS, columns(change), strict=True)) for change in board.changes]
        for board in boards
    }
    if as_json:
        show_rows([{"board": name, **row} for name, rows in changes.items() for row in rows], True)
    for board in boards:
        say(
            f"Board {board.board_before} → {board.board}: {board.entries} entries, {board.judged} "
            "outputs judged now.",
            err=as_json,
        )
        if not as_json:
            show_rows(changes[board.board])
        for failure in board.failed:
            say(f"[red]not judged[/red] {plain(failure)}", err=as_json)
        say(plain(board.line), err=as_json)
    if not boards:
        say(
            "Every entry stands on the board of this judge and scorer already. Nothing was done.",
            err=as_json,
        )


@audit.command()
def repeats(
    submission: SubmissionId,
    times: Annotated[
        int, typer.Option(min=2, max=20, help="How often each question is asked in all.")
    ] = 3,
    outputs: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many outputs are drawn.")
    ] = 20,
    seed: Seed = 0,
) -> None:
    """Measure how often the judge changes its answers.

    Asks again about a few outputs and puts the flip rate onto the judge's card.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings, progress():
        prepare(settings)
        from flows.audit.repeats import measure

        noise = measure(settings, submission, times, outputs, seed)
        say(
            f"{str(noise.rate).capitalize()}, {noise.outputs} outputs asked about {noise.times} "
            "times."
        )


@audit.command()
def overlays(
    submission: SubmissionId,
    outputs: Annotated[
        int,
        typer.Option(
            min=1, max=10_000, help="How many pictures are drawn; each gets 25 painted twins."
        ),
    ] = 4,
    seed: Seed = 0,
) -> None:
    """Measure what words painted into pictures win.

    Paints words into a few pictures, asks the judge, and puts the result onto its card.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings:
        prepare(settings)
        from flows.audit.overlay_test import uplift

        say(str(uplift(settings, submission, outputs, seed)))


def _verify_receipt(path: Path) -> None:
    from flows.audit.receipt_files import check

    with reporting_errors():
        result = check(path)
        for line in result.differences[:MOST_DIFFERENCES]:
            say(f"[red]differs[/red] {plain(line)}")
        for line in result.notes:
            say(f"[yellow]note[/yellow] {plain(line)}")
        numbers = f"{result.scores} scores and {result.cells} cells"
        say(f"{plain(result.run)}: {numbers} recomputed from the files beside the receipt.")
        if result.differences:
            fail(f"{len(result.differences)} do not agree with the receipt.")
        say("[green]All agree with the receipt.[/green]")

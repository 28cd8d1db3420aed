"""The panel Run: the demo, setting up the database, evaluating a submission, and the doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import SubmissionId
from flows.cli.parameters.paths import ExistingFolder
from flows.cli.terminal import AsJson, plain, progress, reporting_errors, say, show_rows

PIPELINE = ExistingFolder("a pipeline's folder with its model_index.json", ("model_index.json",))


def demo(serve: Annotated[bool, typer.Option(help="Serve the board when done.")] = True) -> None:
    """Run the whole path with small random models, then serve it."""
    from flows.cli.demo import run
    from flows.cli.serve import run_board

    with reporting_errors() as settings, progress():
        run(settings, say)
    if serve:
        say(f"The board: http://127.0.0.1:{settings.port}")
        run_board(settings)


def init() -> None:
    """Create or upgrade the database.

    Loads the suites, their metrics, samples and published figures. Safe to run again.
    """
    from flows.publish.seal_chain import seal_catalogue
    from flows.run.catalogue import load
    from infra.db import migrate, session

    with reporting_errors() as settings:
        migrate(settings.database)
        with session(settings.database) as db:
            load(db)
            seal_catalogue(db)
        say(f"Ready: {plain(_without_password(settings.database))}")


def evaluate(submission: SubmissionId) -> None:
    """Bring a submission to the board.

    Generates, validates, judges, scores and publishes. Stages that are finished are not run again.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings, progress():
        prepare(settings)
        from flows.evaluate.flow import run_here

        result = run_here(submission, settings)
        say(
            f"{result.submission_id} is {result.state}: {result.made} outputs made and "
            f"{result.judged} judged in this run."
        )


def doctor(
    as_json: AsJson = False,
    model: Annotated[
        Path | None,
        typer.Option(
            parser=PIPELINE, help="A model's folder: tell what it wants instead.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """Check the installation; list what is wrong and how to fix it."""
    from flows.cli.doctor.examination import examine
    from flows.cli.doctor.model_folder import examine_model

    with reporting_errors() as settings:
        findings = examine_model(model) if model else examine(settings)
        rows = [
            {
                "what": finding.subject,
                "state": finding.state,
                "detail": finding.detail,
                "next step": finding.remedy,
            }
            for finding in findings
        ]
        show_rows(rows, as_json)
        if any(finding.state == "wrong" for finding in findings):
            raise typer.Exit(1)


def _without_password(url: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True)

"""The command line. Every command imports what it needs when it runs, so that `--help` answers at
once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.cli.commands import curate, liva, operate, sc3, study, submit, teams, trust, universe
from flows.cli.commands import entries as cli_operator
from flows.cli.parameters.names import (
    SUBMISSION,
    NameWithin,
    SubmissionId,
    SuiteName,
    modality_of,
    subset_of,
)
from flows.cli.parameters.paths import NewFolder
from flows.cli.parameters.values import BindAddress, Port, Seed
from flows.cli.terminal import announce, leave, plain, progress, say, table, told

if TYPE_CHECKING:
    from infra.settings import Settings
    from leaderboard.queries.addresses import FiguresAt

app = typer.Typer(
    name="armillary",
    help="The open leaderboard for visual world models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Format = Literal["table", "csv", "json"]
Facet = Annotated[
    str, typer.Option(parser=NameWithin("facet's value"), help="One value, or * for all together.")
]


@app.command()
def init() -> None:
    """Create or upgrade the database and load the suites, their metrics, samples and published
    figures."""
    from flows.publish.seal_chain import seal_catalogue
    from flows.run.catalogue import load
    from infra.db import migrate, session

    with told() as settings:
        migrate(settings.database)
        with session(settings.database) as db:
            load(db)
            seal_catalogue(db)
        say(f"Ready: {plain(_hidden(settings.database))}")


@app.command()
def demo(serve: Annotated[bool, typer.Option(help="Serve the board when done.")] = True) -> None:
    """Run the whole path with small random models made on the spot, then serve the board."""
    from flows.cli.demo import run

    with told() as settings, progress():
        run(settings, say)
    if serve:
        _serve(settings)


app.command()(submit.check)
app.command()(submit.submit)
app.command("import")(submit.import_outputs)


@app.command()
def evaluate(submission_id: SubmissionId) -> None:
    """Bring a submission to the board; what is done already is not done again."""
    from flows.workers.executor import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.evaluate.flow import run_here

        done = run_here(submission_id, settings)
        say(
            f"{done.submission_id} is {done.state}: {done.made} outputs made and {done.judged} "
            "judged in this run."
        )


@app.command()
def status(submission_id: Annotated[str | None, typer.Argument(parser=SUBMISSION)] = None) -> None:
    """Show all submissions, or the timeline of one."""
    from flows.cli.status import overview, timeline

    with told() as settings:
        rows = timeline(settings, submission_id) if submission_id else overview(settings)
        table(rows)


@app.command()
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
) -> None:
    """Print a suite's ranking."""
    from infra.db import session
    from leaderboard.export.text import as_csv, as_json
    from leaderboard.queries.addresses import check_address, places
    from leaderboard.queries.ranking import BoardAddress, metric_named, ranking

    with told() as settings, session(settings.database) as db:
        at = BoardAddress(scenario, task, setting, modality)
        check_address(db, suite, at)
        rows = ranking(db, suite, metric, at)
        if format == "table":
            table([row.brief() for row in rows])
            if all(row.value is None for row in rows):
                _elsewhere(suite, places(db, suite, metric_named(db, suite, metric).name))
        else:
            sys.stdout.write(as_csv(rows) if format == "csv" else as_json(rows))


@app.command()
def publish() -> None:
    """Evaluate everything that waits or stopped by our fault, and put it on the board; status 1 if
    something failed."""
    from flows.cli.status import unfinished
    from flows.workers.executor import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.evaluate.backlog import bring, counted
        from flows.suites.yardsticks import stand

        entries = announce(bring(settings, submission_id) for submission_id in unfinished(settings))
        beside = announce(stand(settings))
        say(
            counted(entries, "submissions brought to the board")
            if entries
            else "Nothing waits: the board is up to date."
        )
        leave([*entries, *beside])


@app.command()
def noise(
    submission_id: SubmissionId,
    times: Annotated[
        int, typer.Option(min=2, max=20, help="How often each question is asked in all.")
    ] = 3,
    outputs: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many outputs are drawn.")
    ] = 20,
    seed: Seed = 0,
) -> None:
    """Ask the judge again about a few outputs and put its flip rate onto its card."""
    from flows.workers.executor import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.audit.repeats import measure

        found = measure(settings, submission_id, times, outputs, seed)
        say(
            f"{str(found.rate).capitalize()}, {found.outputs} outputs asked about {found.times} "
            "times."
        )


@app.command()
def defence(
    submission_id: SubmissionId,
    outputs: Annotated[
        int,
        typer.Option(
            min=1, max=10_000, help="How many pictures are drawn; each gets 25 painted twins."
        ),
    ] = 4,
    seed: Seed = 0,
) -> None:
    """Paint words into a few pictures, ask the judge, and put what the words win onto its card."""
    from flows.workers.executor import prepare

    with told() as settings:
        prepare(settings)
        from flows.audit.overlay_test import uplift

        say(str(uplift(settings, submission_id, outputs, seed)))


@app.command()
def serve(address: BindAddress = "127.0.0.1") -> None:
    """Serve the board on this machine."""
    with told() as settings:
        pass
    _serve(settings, address)


@app.command()
def api(port: Port = 8502, address: BindAddress = "127.0.0.1") -> None:
    """Serve the board's data on this machine: http://127.0.0.1:8502/v1/docs"""
    from flows.cli.serve import run_api

    with told() as settings:
        say(f"The API: http://{address}:{port}/v1/docs")
        run_api(settings, address, port)


@app.command()
def export(folder: Annotated[Path, typer.Argument(parser=NewFolder("the files"))]) -> None:
    """Write the whole board as files that any web server can serve."""
    from flows.audit import receipt_files
    from infra.db import session
    from leaderboard.export.static_site import write

    with told() as settings, session(settings.database) as db:
        files, receipts = len(write(db, folder)), receipt_files.write(db, folder)
        say(f"{files} files and {receipts} receipts. Open {plain(str(folder / 'index.html'))}.")


@app.command()
def doctor() -> None:
    """Tell what is installed, reachable and wrong, and what to do about it."""
    from flows.cli.doctor import examine

    with told() as settings:
        findings = examine(settings)
        table(
            [
                {
                    "what": one.what,
                    "state": one.state,
                    "detail": one.detail,
                    "next step": one.remedy,
                }
                for one in findings
            ]
        )
        if any(one.state == "wrong" for one in findings):
            raise typer.Exit(1)


@app.command()
def schema() -> None:
    """Print the JSON schema of manifest.json."""
    from submissions.format.manifest import json_schema

    print(json.dumps(json_schema(), indent=2, sort_keys=True))


@app.command()
def samples(
    suite: SuiteName,
    subset: Annotated[str, typer.Option(parser=NameWithin("subset"))] = "full",
    modality: Annotated[
        str, typer.Option(parser=NameWithin("modality"), help="One, or * for all.")
    ] = "*",
) -> None:
    """List a suite's sample ids and prompts as JSON lines: what a model has to answer."""
    from evaluators.suites import suite_named

    with told():
        chosen = suite_named(suite)
        belongs, modality = chosen.subsets[subset_of(chosen, subset)], modality_of(chosen, modality)
        for sample in chosen.samples():
            if belongs(sample) and modality in ("*", sample.facets.modality):
                print(
                    json.dumps(
                        {
                            "sample": sample.id,
                            "modality": sample.facets.modality,
                            "prompt": sample.prompt,
                        }
                    )
                )


def _elsewhere(suite: str, found: list[FiguresAt]) -> None:
    """Nothing stands here: name some addresses where something does, those with entries of the
    board first."""
    for place in sorted(found, key=lambda place: not place.ours)[:8]:
        chosen = [
            (facet, getattr(place.at, facet))
            for facet in ("scenario", "task", "setting", "modality")
        ]
        options = " ".join(f"--{facet} {value}" for facet, value in chosen if value != "*")
        say(f"Figures stand at: armillary board {suite} {options}")


def _serve(settings: Settings, address: str = "127.0.0.1") -> None:
    """Hand this process over to Streamlit."""
    from flows.cli.serve import run_board

    say(f"The board: http://{address}:{settings.port}")
    run_board(settings, address)


def _hidden(url: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True)


app.command()(trust.verify)
app.command()(trust.audit)
app.command()(trust.withdraw)
app.command()(trust.rejudge)
app.command()(curate.curate)
app.command()(cli_operator.sanity)
app.command()(cli_operator.failure)
app.command()(cli_operator.enter)
for command in operate.COMMANDS:
    app.command()(command)
app.add_typer(curate.review, name="review")
app.add_typer(liva.liva, name="liva")
app.command()(universe.adapt)
app.add_typer(universe.universe, name="universe")
app.add_typer(sc3.sc3, name="sc3")
app.command()(teams.intake)
app.command()(teams.report)
app.add_typer(study.studies, name="study")
app.add_typer(teams.teams, name="team")
app.add_typer(teams.tokens, name="token")

if __name__ == "__main__":
    app()

"""The operator's commands for human studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import (
    RATED_TEAM,
    RATER_OR_STUDY,
    SUBMISSION,
    NameWithin,
    StudyId,
    SuiteName,
    subset_of,
)
from flows.cli.parameters.paths import ExistingFile, NewFile
from flows.cli.parameters.values import NEW_STUDY, BindAddress, Port, Seed, Url, Words
from flows.cli.terminal import AsJson, fail, plain, reporting_errors, say, show_rows, show_tables

ITEMS = ExistingFile("a JSONL file of items")
RATINGS = ExistingFile("a JSONL file of ratings: item, rater, answers")
HEADINGS = {"all": "All raters:", "kept": "Without the raters that the quality rule excludes:"}
BESIDE_PEOPLE = {
    "Other metrics beside people's marks:": "correlations",
    "Place by place, outputs less their entry's mean:": "places",
    "What they rest on:": "entries",
    "What the paper printed, about other data:": "printed",
}

studies = typer.Typer(
    help="Human studies: create, invite, open, close, publish.", no_args_is_help=True
)


@studies.command()
def create(
    study_id: Annotated[str, typer.Argument(parser=NEW_STUDY)],
    suite: SuiteName,
    title: Annotated[
        str | None,
        typer.Option(parser=Words("the title", 200), help="What raters and readers see."),
    ] = None,
    submission: Annotated[
        list[str] | None,
        typer.Option(parser=SUBMISSION, help="An entry on the board; may be given more than once."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            parser=ITEMS,
            help="A JSONL file of items, media beside it; alone, or gold and examples to add.",
        ),
    ] = None,
    subset: Annotated[
        str | None,
        typer.Option(
            parser=NameWithin("subset"), help="Of the entries only the samples of this subset."
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1, max=100_000, help="How many samples of each entry; 60, or a whole subset."
        ),
    ] = None,
    raters: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="Of an item; 2 where they are adjudicated, else 3."),
    ] = None,
    minutes: Annotated[
        int, typer.Option(min=1, max=10_000, help="A begun item is handed on after this time.")
    ] = 30,
    seed: Seed = 0,
) -> None:
    """Make a study in draft and blind its media."""
    with reporting_errors() as settings:
        from flows.workers.executor import prepare

        prepare(settings)
        from evaluators.suites import suite_named
        from flows.studies import create as making
        from flows.studies import items as study_items
        from flows.studies.protocols import places_of

        part = subset_of(suite_named(suite), subset) if subset else ""
        chosen = study_items.items_of_file(items) if items else []
        if submission:
            of_board = study_items.items_of_board(settings, suite, submission, samples, seed, part)
            chosen = [*of_board, *chosen]
        if not chosen:
            fail("Name the entries with --submission, or a file with --items.")
        places = places_of(suite, raters)
        plan = making.StudyPlan(
            study_id,
            suite,
            suite,
            title or study_id,
            raters_per_item=places,
            minutes=minutes,
            seed=seed,
        )
        count = making.create(settings, plan, chosen)
        say(f"{study_id}: {count} items, in draft. Next: `armillary study invite {study_id}`.")


@studies.command()
def invite(
    study_id: StudyId,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many raters.")] = 1,
    team: Annotated[
        str | None,
        typer.Option(
            parser=RATED_TEAM, help="The team they belong to; they never see its outputs."
        ),
    ] = None,
    adjudicator: Annotated[
        bool, typer.Option(help="For UNIVERSE: settles what two raters disagree about.")
    ] = False,
    url: Annotated[
        str, typer.Option(parser=Url("the rating page"), help="Where the rating page is served.")
    ] = "http://127.0.0.1:8503",
) -> None:
    """Print links for new raters; each is shown once."""
    with reporting_errors() as settings:
        from flows.studies.create import invite as make

        role = "adjudicator" if adjudicator else "primary"
        for key in make(settings, study_id, count, team or "", role):
            say(f"{url}/?key={key}")


@studies.command("open")
def open_(study_id: StudyId) -> None:
    """Assign the items and let raters in."""
    _move(study_id, "open")


@studies.command()
def close(study_id: StudyId) -> None:
    """Let no more raters in."""
    _move(study_id, "closed")


def _move(study_id: str, to: str) -> None:
    with reporting_errors() as settings:
        from flows.studies.create import move

        move(settings, study_id, to)
        say(f"{study_id} is {to}.")


@studies.command()
def publish(study_id: StudyId, as_json: AsJson = False) -> None:
    """Compute a closed study's results and publish its scores."""
    with reporting_errors() as settings:
        from flows.workers.executor import prepare

        prepare(settings)
        from flows.studies.board import publish as compute

        result = compute(settings, study_id)
        tables = {
            name: [
                {"method": method, **figures} for method, figures in result[name]["table"].items()
            ]
            for name in HEADINGS
        }
        if as_json:
            repair = [{"case": name} for name in result["repair"]]
            show_tables({**tables, "raters": result["raters"], "repair": repair}, as_json)
            return
        for name in result["repair"]:
            say(plain(f"To repair: {name}: half of its raters or more could not label it."))
        for name, heading in HEADINGS.items():
            say(heading)
            show_rows(tables[name])
            say(plain(json.dumps(result[name]["agreement"])))
        show_rows(result["raters"])
        if result["others"]:
            say(f"Other metrics beside people's marks: `armillary study metrics {study_id}`.")


@studies.command()
def metrics(study_id: StudyId, as_json: AsJson = False) -> None:
    """Hold other metrics against people's marks.

    For a published study of rollouts: PSNR, SSIM and, where their weights were named when rollouts
    were read (ARMILLARY_FIDELITY), LPIPS and FVD, beside what the paper printed.
    """
    with reporting_errors() as settings:
        from infra.db import session
        from leaderboard.studies import correlating

        with session(settings.database) as db:
            others = correlating.others_of(db, study_id)
        tables = {
            "correlations": correlating.rows(others),
            "places": correlating.place_rows(others),
            "entries": correlating.entry_rows(others),
            "printed": correlating.printed_rows(others),
        }
        if as_json:
            absent = [{"absent": why} for why in correlating.absences(others)]
            show_tables({**tables, "absent": absent}, as_json)
            return
        for heading, name in BESIDE_PEOPLE.items():
            say(heading)
            show_rows(tables[name])
        for why in correlating.absences(others):
            say(plain(why))


@studies.command()
def work() -> None:
    """Carry out now what was ordered on the Studies page.

    The intake flow does the same on its schedule.
    """
    with reporting_errors() as settings:
        from flows.workers.executor import prepare

        prepare(settings)
        from flows.studies.orders import carry_out

        for line in carry_out(settings):
            say(plain(line))


@studies.command("list")
def list_(as_json: AsJson = False) -> None:
    """List all studies and their progress."""
    with reporting_errors() as settings:
        from infra.db import session
        from leaderboard.studies.overview import overview

        with session(settings.database) as db:
            show_rows([study.as_row() for study in overview(db)], as_json)


@studies.command()
def export(
    study_id: StudyId, to: Annotated[Path, typer.Argument(parser=NewFile("the ratings"))]
) -> None:
    """Write the ratings as JSONL, under pseudonyms."""
    with reporting_errors() as settings:
        from flows.studies.data import exported

        lines = [json.dumps(line, sort_keys=True) for line in exported(settings, study_id)]
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        say(f"{len(lines)} ratings in {plain(str(to))}.")


@studies.command("import")
def import_(study_id: StudyId, ratings: Annotated[Path, typer.Argument(parser=RATINGS)]) -> None:
    """Take in ratings made elsewhere (JSONL with item, rater, answers)."""
    with reporting_errors() as settings:
        from flows.studies.data import import_ratings

        say(f"{import_ratings(settings, study_id, ratings)} ratings taken in.")


@studies.command()
def erase(
    rater: Annotated[
        str,
        typer.Argument(
            parser=RATER_OR_STUDY, help="A rater's pseudonym, or a study with --contacts."
        ),
    ],
    contacts: Annotated[
        bool, typer.Option(help="Delete all addresses of the study instead.")
    ] = False,
) -> None:
    """Remove a rater with their ratings, or a study's contacts."""
    with reporting_errors() as settings:
        from flows.studies.data import erase as remove
        from flows.studies.data import forget_contact

        erased = forget_contact(settings, rater) if contacts else remove(settings, rater)
        say(f"{erased} {'addresses' if contacts else 'ratings and places'} erased.")


@studies.command()
def serve(port: Port = 8503, address: BindAddress = "127.0.0.1") -> None:
    """Serve the rating page; it shows no model's and no team's name."""
    with reporting_errors():
        from flows.cli.serve import run_app
        from infra.settings import Settings

        say(f"Raters come in at http://{address}:{port}/?key=...")
        run_app("rating_app.py", Settings(), port, address)

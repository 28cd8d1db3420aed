"""UNIVERSE's data on the command line: record play, convert a lab's recordings, make a private
bank, look at clips."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import ENVIRONMENT
from flows.cli.parameters.paths import ExistingFile, ExistingFolder, NewFolder
from flows.cli.parameters.values import LAST_SEED, Seed
from flows.cli.terminal import plain, progress, reporting_errors, say

RECORDINGS = ExistingFolder("a folder of long recordings")
DESCRIPTION = ExistingFile("a JSON file that describes recordings")
SHOWN = 5


def add_data_commands(universe: typer.Typer) -> None:
    """Put these commands under `armillary universe`."""
    universe.command()(data)
    universe.command()(convert)
    universe.command("private-bank")(private_bank)
    universe.command()(sheets)


def data(
    folder: Annotated[Path, typer.Argument(parser=NewFolder("the data set"))],
    environment: Annotated[
        str, typer.Option(parser=ENVIRONMENT, help="environment_1 to environment_8.")
    ] = "environment_1",
    sessions: Annotated[int, typer.Option(min=1, max=100_000)] = 26,
    takes: Annotated[int, typer.Option(min=1, max=1000, help="Clips a session.")] = 12,
    seed: Seed = 0,
) -> None:
    """Record play in the game and write the data set cut from it."""
    from flows.cli.game.data import record_data

    with reporting_errors(), progress():
        built = record_data(folder, environment, sessions, takes, seed)
    say(
        f"{len(built.annotations)} clips from {sessions} recorded sessions, {len(built.dropped)} "
        "dropped."
    )
    say(f"They are in {plain(str(folder))}.")


def convert(
    recordings: Annotated[Path, typer.Argument(parser=RECORDINGS)],
    to: Annotated[Path, typer.Argument(parser=NewFolder("the data set"))],
    description: Annotated[
        Path, typer.Option(parser=DESCRIPTION, help="What the recordings are, and your rules.")
    ],
    seed: Seed = 0,
) -> None:
    """Cut a lab's long recordings into a data set."""
    from evaluators.suites.universe import own_data

    with reporting_errors():
        own_data.check_recordings(recordings, description)
        built = own_data.convert(recordings, to, own_data.read_description(description), seed)
    for dropped in built.dropped[:SHOWN]:
        say(f"Left out {plain(dropped.name)}: {plain(dropped.reason)}.", err=True)
    say(f"{len(built.annotations)} clips, {len(built.dropped)} left out.")
    say(f"Adapt on them: armillary universe adapt JUDGE --data {plain(str(to))}")


def private_bank(
    folder: Annotated[Path, typer.Argument(parser=NewFolder("the bank"))],
    seed: Annotated[
        int | None,
        typer.Option(
            min=1, max=LAST_SEED, help="It makes the clips: keep it secret. Default: drawn."
        ),
    ] = None,
    clips: Annotated[int, typer.Option(min=16, max=100_000, help="An environment.")] = 32,
) -> None:
    """Make a private bank of clips from a secret seed of yours.

    Mount it under ARMILLARY_PRIVATE as universe/.
    """
    from flows.cli.game.data import make_private_bank

    with reporting_errors(), progress():
        rows = make_private_bank(folder, seed, clips)
    say(f"{rows} clips, whose pictures follow from the seed. They are in {plain(str(folder))}.")


def sheets(
    folder: Annotated[Path, typer.Argument(parser=NewFolder("the contact sheets"))],
    number: Annotated[int, typer.Option(min=1, max=10_000, help="Clips, drawn at random.")] = 200,
    seed: Seed = 0,
) -> None:
    """Write contact sheets of public clips with their truth."""
    from flows.cli.game.data import write_sheets

    with reporting_errors(), progress():
        pages = write_sheets(folder, number, seed)
    say(f"{number} clips on {pages} sheets in {plain(str(folder))}.")

"""The command line of UNIVERSE: adapt a judge, import answers, put the baselines up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.game.adapting import add_adapting_commands
from flows.cli.game.commands import add_data_commands
from flows.cli.game.rollouts import rollouts
from flows.cli.parameters.names import JUDGE, UNIVERSE_SUBSET
from flows.cli.parameters.paths import (
    ExistingFile,
    ExistingFolder,
    Manifest,
    NewBundle,
    NewFile,
)
from flows.cli.terminal import plain, progress, reporting_errors, say

universe = typer.Typer(help="Adapt a judge, write data, import answers.", no_args_is_help=True)
add_adapting_commands(universe)
add_data_commands(universe)
universe.add_typer(rollouts, name="rollouts")

CLIP = ExistingFolder("a CLIP folder as save_pretrained wrote it", ("config.json",))
ANSWERS = ExistingFile("a JSONL file of answers")


@universe.command("import")
def import_jsonl(
    answers: Annotated[
        Path, typer.Argument(parser=ANSWERS, help='JSON lines: {"sample": id, "answer": words}.')
    ],
    to: NewBundle,
    manifest: Manifest,
) -> None:
    """Make a bundle from finished answers.

    The manifest's suite is universe, or a mounted bank of one's own.
    """
    from flows.suites.judges.answers import samples_of_suite
    from submissions.bundle.declarations import read_declaration
    from submissions.tools.import_answers import import_answers

    with reporting_errors(answers):
        declared = read_declaration(manifest)
        sample_ids = samples_of_suite(str(declared.get("suite")))
        path = plain(str(import_answers(to, declared, answers, sample_ids)))
        say(f"Written: {path}. Next: armillary check {path}")


@universe.command()
def answers(
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFile("the answers"), help="A JSONL file; a stopped run goes on from it."
        ),
    ],
    judge: Annotated[
        str,
        typer.Option(
            parser=JUDGE, help="http:MODEL@SNAPSHOT at ARMILLARY_JUDGE_URL, or vlm:FOLDER."
        ),
    ],
    subset: Annotated[str, typer.Option(parser=UNIVERSE_SUBSET)] = "full",
) -> None:
    """Put the questions to a model behind an API.

    Its answers become a file for `armillary universe import`.
    """
    from flows.durable.progress import advance_progress, start_progress
    from flows.suites.judges.answers import ask

    def tick_clips(clips: int) -> None:
        for _ in range(clips):
            advance_progress("clips")

    with reporting_errors() as settings, progress():
        start_progress("clips", 0)
        new, missing = ask(to, judge, subset, settings, tick_clips)
    place = plain(str(to))
    say(f"{new} answers written, {missing} missing. They are in {place}.")
    if missing:
        say("Run it again to ask for those that are missing.")
    else:
        say(f"Next: armillary universe import {place} --to bundle.zip --manifest manifest.json")


@universe.command()
def baselines(
    subset: Annotated[str, typer.Option(parser=UNIVERSE_SUBSET)] = "full",
    clip: Annotated[
        Path | None, typer.Option(parser=CLIP, help="A CLIP folder, for the CLIPScore row.")
    ] = None,
) -> None:
    """Hand in the baselines.

    Chance, the majority class, CLIPScore and the unadapted model.
    """
    from flows.suites.judges.baselines import hand_in_baselines

    with reporting_errors() as settings:
        for name, submission_id in hand_in_baselines(settings, subset, clip):
            say(f"{name}: {submission_id}. Next: armillary evaluate {submission_id}")

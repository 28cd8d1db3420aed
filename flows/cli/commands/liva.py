"""The commands for L-IVA's cases: checking a folder, taking one in, drawing our own pictures
again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.commands.tailor.curation import review
from flows.cli.parameters.names import SCENARIO
from flows.cli.parameters.paths import CASES, ExistingFolder, NewCases, NewFolder
from flows.cli.parameters.values import IMAGE_API, Name
from flows.cli.terminal import fail, plain, reporting_errors, say

if TYPE_CHECKING:
    from flows.suites.liva_curate import Drafted

liva = typer.Typer(help="Check, import and draft cases.", no_args_is_help=True)
liva.add_typer(review, name="review")
Cases = Annotated[
    Path, typer.Argument(parser=CASES, help="A folder with a .yaml sidecar beside each picture.")
]
Curation = Annotated[
    str,
    typer.Argument(parser=Name("a curation"), help="The same name again goes on where it stopped."),
]
PHOTOS = ExistingFolder("a folder with photos and intentions.csv", ("intentions.csv",))
IMAGE_MODEL = ExistingFolder("a diffusers text-to-image folder", ("model_index.json",))
Side = Annotated[int, typer.Option(min=64, max=8192, help="Of the pictures.")]


@liva.command("check")
def check(folder: Cases) -> None:
    """List every mistake in a folder of sidecars, with its line."""
    from evaluators.suites.liva.cases.folder import read_folder

    with reporting_errors():
        checked = read_folder(folder)
        for finding in checked.findings:
            say(plain(str(finding)))
        if checked.errors:
            fail(f"{len(checked.errors)} errors. Correct them and check again.")
        say(f"Good: {len(checked.cases)} cases, {len(checked.findings)} warnings.")


@liva.command("import")
def take_in(
    folder: Cases,
    to: Annotated[
        Path,
        typer.Argument(parser=NewFolder("the cleaned copies"), help="Where the cleaned copies go."),
    ],
) -> None:
    """Copy a folder of cases in one clean form.

    Pictures become PNG without metadata; sidecars are written in one form.
    """
    from evaluators.suites.liva.cases.folder import take_in

    with reporting_errors():
        copied = take_in(folder, to)
        say(f"Taken in: {len(copied.cases)} cases.")


@liva.command("paint")
def paint(to: Annotated[Path, typer.Argument(parser=NewFolder("the pictures"))]) -> None:
    """Draw the first frames of our own cases again."""
    from evaluators.suites.liva.cases.folder import own
    from evaluators.suites.liva.cases.painter import paint, scene

    with reporting_errors():
        to.mkdir(parents=True, exist_ok=True)
        for case in own():
            paint(scene(case.case_id)).save(to / case.image, optimize=True)
        say(f"Drawn: {len(own())} pictures.")


@liva.command("photos")
def photos(
    name: Curation,
    folder: Annotated[
        Path,
        typer.Argument(
            parser=PHOTOS, help="Photos, with intentions.csv: file, case_id, intention, license."
        ),
    ],
    to: NewCases,
) -> None:
    """Draft cases from photos with the model of ARMILLARY_AGENT.

    People decide about the drafts with `armillary liva review`; then run it again.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings:
        prepare(settings)
        from flows.suites.liva_curate import photos_flow, read_list

        read_list(folder)
        _report(photos_flow(name, str(folder), str(to)))


@liva.command("invent")
def invent(
    name: Curation,
    scenario: Annotated[
        str, typer.Argument(parser=SCENARIO, help="The scene family, as in kitchen.")
    ],
    to: NewCases,
    image_model: Annotated[
        Path | None, typer.Option(parser=IMAGE_MODEL, help="A diffusers text-to-image folder.")
    ] = None,
    image_api: Annotated[
        str | None,
        typer.Option(parser=IMAGE_API, help="Or MODEL@SNAPSHOT behind ARMILLARY_IMAGE_URL."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=40, help="How many jobs.")] = 5,
    width: Side = 832,
    height: Side = 480,
    steps: Annotated[int, typer.Option(min=1, max=1000, help="Of the image model's sampler.")] = 30,
) -> None:
    """Draft cases from a scenario's name, goal first.

    Writes jobs, then a picture for each job that people kept, then its sidecar.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings:
        prepare(settings)
        from flows.suites.liva_curate import check_image_model, goals_flow

        if (image_model is None) == (image_api is None):
            fail("Name one image model: --image-model FOLDER or --image-api MODEL@SNAPSHOT.")
        if image_model is not None:
            check_image_model(image_model)
        folder, api = str(image_model or ""), image_api or ""
        _report(goals_flow(name, scenario, count, str(to), folder, width, height, steps, api))


def _report(drafted: Drafted) -> None:
    for case, why in drafted.open.items():
        say(plain(f"{case}: {why}"))
    for finding in drafted.findings:
        say(plain(str(finding)))
    say(
        f"Asked {drafted.calls} questions, wrote {len(drafted.written)} cases. Decide with: "
        "armillary liva review list NAME"
    )

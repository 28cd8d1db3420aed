"""The commands for L-IVA's cases: checking a folder, taking one in, drawing our own pictures
again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.parameters.names import SCENARIO
from flows.cli.parameters.paths import CASES, Folder, NewCases, NewFolder
from flows.cli.parameters.values import Name
from flows.cli.terminal import fail, plain, say, told

if TYPE_CHECKING:
    from flows.suites.liva_curate import Drafted

liva = typer.Typer(help="Cases of L-IVA: pictures with their sidecars.", no_args_is_help=True)
Cases = Annotated[
    Path, typer.Argument(parser=CASES, help="A folder with a .yaml sidecar beside each picture.")
]
Curation = Annotated[
    str,
    typer.Argument(parser=Name("a curation"), help="The same name again goes on where it stopped."),
]
PHOTOS = Folder("a folder with photos and intentions.csv", ("intentions.csv",))
IMAGE_MODEL = Folder("a diffusers text-to-image folder", ("model_index.json",))
Side = Annotated[int, typer.Option(min=64, max=8192, help="Of the pictures.")]


@liva.command("check")
def check(folder: Cases) -> None:
    """Read every sidecar of a folder and list what is wrong, with line numbers."""
    from evaluators.suites.liva.cases.folder import read_folder

    with told():
        found = read_folder(folder)
        for finding in found.findings:
            say(plain(str(finding)))
        if found.errors:
            fail(f"{len(found.errors)} errors. Correct them and check again.")
        say(f"Good: {len(found.cases)} cases, {len(found.findings)} warnings.")


@liva.command("import")
def take_in(
    folder: Cases,
    to: Annotated[
        Path,
        typer.Argument(parser=NewFolder("the cleaned copies"), help="Where the cleaned copies go."),
    ],
) -> None:
    """Copy a sound folder of cases: pictures as PNG without metadata, sidecars in one form."""
    from evaluators.suites.liva.cases.folder import take_in

    with told():
        taken = take_in(folder, to)
        say(f"Taken in: {len(taken.cases)} cases.")


@liva.command("paint")
def paint(to: Annotated[Path, typer.Argument(parser=NewFolder("the pictures"))]) -> None:
    """Draw the first frames of our own cases again."""
    from evaluators.suites.liva.cases.folder import own
    from evaluators.suites.liva.cases.painter import paint, scene

    with told():
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
    """Draft cases from photos with ARMILLARY_AGENT; people decide with `armillary review`, then run
    it again."""
    from flows.workers.executor import prepare

    with told() as settings:
        prepare(settings)
        from flows.suites.liva_curate import photos_flow, read_list

        read_list(folder)
        _show(photos_flow(name, str(folder), str(to)))


@liva.command("invent")
def invent(
    name: Curation,
    scenario: Annotated[
        str, typer.Argument(parser=SCENARIO, help="The scene family, as in kitchen.")
    ],
    image_model: Annotated[
        Path, typer.Option(parser=IMAGE_MODEL, help="A diffusers text-to-image folder.")
    ],
    to: NewCases,
    count: Annotated[int, typer.Option(min=1, max=40, help="How many jobs.")] = 5,
    width: Side = 832,
    height: Side = 480,
    steps: Annotated[int, typer.Option(min=1, max=1000, help="Of the image model's sampler.")] = 30,
) -> None:
    """Draft cases goal first: jobs, a picture for each that people kept, then its sidecar."""
    from flows.workers.executor import prepare

    with told() as settings:
        prepare(settings)
        from flows.suites.liva_curate import check_image_model, goals_flow

        check_image_model(image_model)
        _show(goals_flow(name, scenario, count, str(to), str(image_model), width, height, steps))


def _show(drafted: Drafted) -> None:
    for case, why in drafted.open.items():
        say(plain(f"{case}: {why}"))
    for finding in drafted.findings:
        say(plain(str(finding)))
    say(
        f"Asked {drafted.asked} questions, wrote {len(drafted.written)} cases. Decide with: "
        "armillary review"
    )

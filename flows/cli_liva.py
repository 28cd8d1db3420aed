"""The commands for L-IVA's cases: checking a folder, taking one in, drawing our own pictures again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.terminal import fail, plain, say, told

liva = typer.Typer(help="Cases of L-IVA: pictures with their sidecars.", no_args_is_help=True)
Folder = Annotated[Path, typer.Argument(help="A folder with a .yaml sidecar beside each picture.")]


@liva.command("check")
def check(folder: Folder) -> None:
    """Read every sidecar of a folder and list what is wrong, with line numbers."""
    from evaluators.suites.liva.cases import read_folder

    with told():
        found = read_folder(_there(folder))
        for finding in found.findings:
            say(plain(str(finding)))
        if found.errors:
            fail(f"{len(found.errors)} errors. Correct them and check again.")
        say(f"Good: {len(found.cases)} cases, {len(found.findings)} warnings.")


@liva.command("import")
def take_in(folder: Folder, to: Annotated[Path, typer.Argument(help="Where the cleaned copies go.")]) -> None:
    """Copy a sound folder of cases: pictures as PNG without metadata, sidecars in one form."""
    from evaluators.suites.liva.cases import Unsound, take_in

    with told():
        try:
            taken = take_in(_there(folder), to)
        except Unsound as error:
            fail(plain(str(error)))
        say(f"Taken in: {len(taken.cases)} cases.")


@liva.command("paint")
def paint(to: Annotated[Path, typer.Argument(help="Where the pictures go.")]) -> None:
    """Draw the first frames of our own cases again."""
    from evaluators.suites.liva.cases import own
    from evaluators.suites.liva.painter import paint, scene

    with told():
        to.mkdir(parents=True, exist_ok=True)
        for case in own():
            paint(scene(case.case_id)).save(to / case.image, optimize=True)
        say(f"Drawn: {len(own())} pictures.")


@liva.command("photos")
def photos(
    name: Annotated[str, typer.Argument(help="The same name again goes on where it stopped.")],
    folder: Annotated[Path, typer.Argument(help="Photos, with intentions.csv: file, case_id, intention, license.")],
    to: Annotated[Path, typer.Option(help="Folder for the finished cases.")],
) -> None:
    """Draft cases from photos with ARMILLARY_AGENT; people decide with `armillary review`, then run it again."""
    _draft("photos_flow", name, str(_there(folder)), str(to))


@liva.command("invent")
def invent(
    name: Annotated[str, typer.Argument(help="The same name again goes on where it stopped.")],
    scenario: Annotated[str, typer.Argument(help="The scene family, as in kitchen.")],
    image_model: Annotated[Path, typer.Option(help="A diffusers text-to-image folder.")],
    to: Annotated[Path, typer.Option(help="Folder for the finished cases.")],
    count: Annotated[int, typer.Option(min=1, max=40, help="How many jobs.")] = 5,
    width: Annotated[int, typer.Option(min=64, help="Of the pictures.")] = 832,
    height: Annotated[int, typer.Option(min=64, help="Of the pictures.")] = 480,
    steps: Annotated[int, typer.Option(min=1, help="Of the image model's sampler.")] = 30,
) -> None:
    """Draft cases goal first: jobs, a picture for each that people kept, then its sidecar."""
    _draft("goals_flow", name, scenario, count, str(to), str(_there(image_model)), width, height, steps)


def _draft(flow: str, *arguments: str | int) -> None:
    from flows.engine import prepare

    with told() as settings:
        prepare(settings)
        from evaluators.judges.chat import Unavailable
        from evaluators.suites.liva.drafting import CannotDraft
        from flows import curate_liva
        from flows.agents import UnknownAgent

        try:
            found: curate_liva.Drafted = getattr(curate_liva, flow)(*arguments)
        except (CannotDraft, UnknownAgent, Unavailable) as error:
            fail(plain(str(error)))
        for case, why in found.open.items():
            say(plain(f"{case}: {why}"))
        for finding in found.findings:
            say(plain(str(finding)))
        say(f"Asked {found.asked} questions, wrote {len(found.written)} cases. Decide with: armillary review")


def _there(folder: Path) -> Path:
    if not folder.is_dir():
        fail(f"{folder} is not a folder. Name the folder with the sidecars.")
    return folder

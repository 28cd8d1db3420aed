"""UNIVERSE's world models on the command line: kit, training, rollouts, bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.names import DEVICE, ROLLOUT_SUBSET, WORLD
from flows.cli.parameters.paths import ExistingFolder, Manifest, NewBundle, NewFolder
from flows.cli.parameters.values import Seed
from flows.cli.terminal import plain, progress, reporting_errors, say

rollouts = typer.Typer(
    help="World models of the game: kit, training, rollouts, bundle.", no_args_is_help=True
)
Subset = Annotated[str, typer.Option(parser=ROLLOUT_SUBSET, help="full or demo.")]
GAME_KIT = ExistingFolder("a kit that `armillary universe rollouts kit` wrote", ("kit.json",))
ROLLED_OUT = ExistingFolder("a folder that `armillary universe rollouts rollout` wrote")


@rollouts.command()
def kit(
    to: Annotated[Path, typer.Argument(parser=NewFolder("the kit"), help="Where it goes.")],
    subset: Subset = "full",
    height: Annotated[
        int, typer.Option(min=16, max=1024, help="Of the pictures of practice, in pixels.")
    ] = 96,
    practice: Annotated[int, typer.Option(min=0, max=10**6, help="Takes to learn from.")] = 400,
) -> None:
    """Write given frames, buttons and practice.

    Practice is a LeRobot data set; beside it lie the contract of a world model and a server.
    """
    from flows.cli.game.worlds import make_game_kit
    from flows.durable.progress import advance_progress, start_progress

    with reporting_errors(), progress():
        start_progress("starts", 0)
        start_progress("practice", practice)
        folder = make_game_kit(to, subset, height, practice, advance_progress)
    say(f"Written: {plain(str(folder))}. Its README says what is in it.")


@rollouts.command()
def train(
    to: Annotated[Path, typer.Argument(parser=NewFolder("the world"), help="Its folder.")],
    kit: Annotated[Path, typer.Option(parser=GAME_KIT, help="What to learn from.")],
    steps: Annotated[int, typer.Option(min=8, max=10**8)] = 2000,
    seed: Seed = 0,
) -> None:
    """Train a small world on a kit's practice."""
    from flows.cli.game.worlds import train_on_kit
    from flows.durable.progress import set_progress, start_progress

    with reporting_errors(), progress():
        start_progress("steps", steps)
        train_on_kit(kit, to, steps, seed, lambda step, _loss: set_progress("steps", step))
    folder = plain(str(to))
    say(f"{folder} holds the world. Next: armillary universe rollouts rollout OUT --world {folder}")


@rollouts.command()
def rollout(
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFolder("the rollouts"), help="Where they go; a killed run goes on from there."
        ),
    ],
    world: Annotated[
        str,
        typer.Option(
            parser=WORLD, help="http://host:port, module:factory, or the folder of a world."
        ),
    ],
    subset: Subset = "full",
    device: Annotated[
        str, typer.Option(parser=DEVICE, help="What a factory or folder is opened with.")
    ] = "cpu",
) -> None:
    """Let a world model continue the given frames.

    Writes an mp4 of fourteen frames for each start.
    """
    from flows.cli.game.worlds import GameRollouts, roll_out_game
    from flows.durable.progress import advance_progress, start_progress

    def tick_rollouts(finished: int) -> None:
        for _ in range(finished):
            advance_progress("rollouts")

    with reporting_errors(), progress():
        request = GameRollouts(world, device, to, subset)
        start_progress("rollouts", len(request.samples()))
        files = roll_out_game(request, tick_rollouts)
    place = plain(str(to))
    say(f"{len(files)} rollouts are in {place}.")
    say(f"Next: armillary universe rollouts pack {place} --to bundle.zip --manifest manifest.json")


@rollouts.command()
def pack(
    folder: Annotated[Path, typer.Argument(parser=ROLLED_OUT, help="The rollouts.")],
    to: NewBundle,
    manifest: Manifest,
) -> None:
    """Make a bundle from a folder of rollouts.

    The manifest's suite is universe_worlds (judged) or universe_truth (by the game).
    """
    from flows.cli.game.worlds import pack_game
    from submissions.bundle.declarations import read_declaration

    with reporting_errors():
        path = pack_game(folder, to, read_declaration(manifest))
    say(f"Written: {plain(str(path))}. Next: armillary check {plain(str(path))}")

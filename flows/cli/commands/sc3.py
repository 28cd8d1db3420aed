"""The command line of SC3-Eval: train a dynamics model, roll policies out inside one, and bundle
the rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.parameters.names import POLICY_SERVER, TRAINING_MODE
from flows.cli.parameters.paths import ExistingFile, ExistingFolder, Manifest, NewBundle, NewFolder
from flows.cli.parameters.values import Seed
from flows.cli.terminal import plain, progress, reporting_errors, say

sc3 = typer.Typer(
    help="Train dynamics models, roll policies out inside them.",
    no_args_is_help=True,
)

SIZES = ExistingFile("a JSON file of sizes")
MODEL = ExistingFolder("a dynamics model's folder", ("config.json",))
MODES = {"offline": ("offline",), "online": ("online",), "both": ("offline", "online")}


@sc3.command()
def train(
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFolder("the model"), help="The model's folder; a killed run goes on from it."
        ),
    ],
    config: Annotated[
        Path | None,
        typer.Option(
            parser=SIZES,
            help='Sizes as JSON: {"dynamics": {"width": 96, …}, "eyes": {"height": 24, …}}.',
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, max=10**8, help="Of the dynamics.")] = 2000,
    sight_steps: Annotated[int, typer.Option(min=1, max=10**8, help="Of the tokeniser.")] = 1000,
    batch: Annotated[int, typer.Option(min=1, max=10**6)] = 32,
    rate: Annotated[float, typer.Option(min=0.0, max=10.0, help="How fast it learns.")] = 2e-3,
    episodes: Annotated[
        int, typer.Option(min=1, max=10**7, help="Of practice on the simulated table.")
    ] = 1200,
    without: Annotated[
        list[str] | None,
        typer.Option(
            parser=TRAINING_MODE, help="Leave a mode out: cross_view, inverse; repeat it."
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Train a dynamics model on the simulated table.

    Chooses its tau too. On several GPUs start it with `accelerate launch`.
    """
    from flows.durable.progress import set_progress, start_progress
    from flows.suites.sc3_train import DynamicsTrainingPlan, train_here

    plan = DynamicsTrainingPlan(
        to, config, steps, sight_steps, batch, rate, episodes, tuple(without or ()), seed
    )
    with reporting_errors(), progress():
        start_progress("eyes", sight_steps)
        start_progress("dynamics", steps)
        tau = train_here(plan, lambda part, step, _loss: set_progress(part, step))
    stop = (
        "It never stops a rollout."
        if tau is None
        else f"It stops a rollout where U exceeds {tau:.3f}."
    )
    say(
        f"{plain(str(to))} holds the model. {stop} Hand it in: armillary submit --model "
        f"{plain(str(to))}"
    )


@sc3.command()
def rollout(
    model: Annotated[
        Path,
        typer.Argument(
            parser=MODEL, help="A dynamics model's folder: config.json and model.safetensors."
        ),
    ],
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFolder("the rollouts"), help="Where they go; a killed run goes on from there."
        ),
    ],
    policy_url: Annotated[
        list[str] | None,
        typer.Option(
            parser=POLICY_SERVER,
            help="N=URL: ask your own policy server in the place of policy N; repeat it.",
        ),
    ] = None,
    starts: Annotated[
        int, typer.Option(min=1, max=36, help="The first so many starts of each policy.")
    ] = 36,
    mode: Literal["offline", "online", "both"] = "both",
    clips: Annotated[bool, typer.Option(help="Also write an mp4 a view.")] = True,
) -> None:
    """Roll the seven policies out inside a dynamics model.

    Writes an npz, clips and a line of JSON for each rollout.
    """
    from flows.durable.progress import advance_progress, start_progress
    from flows.suites.sc3_rollouts import RolloutRequest, read_servers, roll_out

    def tick_rollouts(finished: int) -> None:
        for _ in range(finished):
            advance_progress("rollouts")

    with reporting_errors(), progress():
        request = RolloutRequest(
            model, to, starts, MODES[mode], read_servers(policy_url or []), clips
        )
        start_progress("rollouts", len(request.samples()))
        rollouts = roll_out(request, tick_rollouts)
    say(f"{len(rollouts)} rollouts are in {plain(str(to))}.")
    if request.servers:
        say(
            "Policies of your own are for your eyes: what is handed in is compared with the seven "
            "of the suite."
        )
    else:
        say(f"Next: armillary sc3 pack {plain(str(to))} --to bundle.zip --manifest manifest.json")


@sc3.command()
def pack(
    folder: Annotated[
        Path,
        typer.Argument(
            parser=ExistingFolder("a folder that `armillary sc3 rollout` wrote"),
            help="The rollouts.",
        ),
    ],
    to: NewBundle,
    manifest: Manifest,
) -> None:
    """Make a bundle from a folder of rollouts.

    Takes those of the subset that the manifest declares.
    """
    from flows.suites.sc3_rollouts import pack as bundle
    from submissions.bundle.declarations import read_declaration

    with reporting_errors():
        path = bundle(folder, to, read_declaration(manifest))
    say(f"Written: {plain(str(path))}. Next: armillary check {plain(str(path))}")

"""The command line of SC3-Eval: train a dynamics model, roll policies out inside one, and bundle
the rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.parameters.names import POLICY_SERVER, TRAINING_MODE
from flows.cli.parameters.paths import File, Folder, Manifest, NewBundle, NewFolder
from flows.cli.parameters.values import Seed
from flows.cli.terminal import plain, progress, say, told

sc3 = typer.Typer(
    help="SC3-Eval: dynamics models, and rollouts of the policies inside them.",
    no_args_is_help=True,
)

SIZES = File("a JSON file of sizes")
MODEL = Folder("a dynamics model's folder", ("config.json",))
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
    """Train a dynamics model on the simulated table and choose its tau; several GPUs: with
    `accelerate launch`."""
    from flows.durable.progress import begin, reach
    from flows.suites.sc3_train import DynamicsTrainingPlan, train_here

    plan = DynamicsTrainingPlan(
        to, config, steps, sight_steps, batch, rate, episodes, tuple(without or ()), seed
    )
    with told(), progress():
        begin("eyes", sight_steps)
        begin("dynamics", steps)
        tau = train_here(plan, lambda what, step, _loss: reach(what, step))
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
    """Roll the seven policies out inside a dynamics model: an npz, clips and a line of JSON
    each."""
    from flows.durable.progress import begin, tick
    from flows.suites.sc3_rollouts import RolloutRequest, read_servers, roll_out

    def tick_all(done: int) -> None:
        for _ in range(done):
            tick("rollouts")

    with told(), progress():
        wish = RolloutRequest(model, to, starts, MODES[mode], read_servers(policy_url or []), clips)
        begin("rollouts", len(wish.samples()))
        made = roll_out(wish, tick_all)
    say(f"{len(made)} rollouts are in {plain(str(to))}.")
    if wish.servers:
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
            parser=Folder("a folder that `armillary sc3 rollout` wrote"), help="The rollouts."
        ),
    ],
    to: NewBundle,
    manifest: Manifest,
) -> None:
    """Make a bundle from the rollouts of a folder; those of the declared subset are taken."""
    from flows.suites.sc3_rollouts import pack as bundle
    from submissions.bundle.declarations import read_declaration

    with told():
        made = bundle(folder, to, read_declaration(manifest))
    say(f"Written: {plain(str(made))}. Next: armillary check {plain(str(made))}")

"""The command line of SC3-Eval: a kit to learn from, rollouts inside a world model, a bundle of
them, and training a small one."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.parameters.names import (
    DEVICE,
    POLICY_NETWORK,
    POLICY_SERVER,
    ROBOT_SUITE,
    TRAINING_MODE,
    WORLD,
)
from flows.cli.parameters.paths import (
    ExistingFile,
    ExistingFolder,
    Manifest,
    NewBundle,
    NewFolder,
)
from flows.cli.parameters.values import Seed
from flows.cli.terminal import plain, progress, refuse, reporting_errors, say

sc3 = typer.Typer(
    help="World models as evaluators: kit, rollouts, training.",
    no_args_is_help=True,
)

RobotSuite = Annotated[
    str,
    typer.Option(parser=ROBOT_SUITE, help="sc3, or sc3.NAME: the robot of a mounted bank."),
]
COSMOS = ExistingFolder("a Cosmos 3 pipeline", ("model_index.json",))
KIT_FOLDER = ExistingFolder("a kit that `armillary sc3 kit` wrote", ("kit.json",))
SECRET = ExistingFile("a file that holds the seed of private starts")
SIZES = ExistingFile("a JSON file of sizes")
MODES = {"offline": ("offline",), "online": ("online",), "both": ("offline", "online")}


@sc3.command()
def train(
    kit: Annotated[Path, typer.Argument(parser=KIT_FOLDER, help="What to learn from.")],
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFolder("the model"), help="The model's folder; a killed run goes on from it."
        ),
    ],
    config: Annotated[
        Path | None,
        typer.Option(parser=SIZES, help='Sizes as JSON: {"depth": 6, "hidden": 192, …}.'),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, max=10**8, help="Of the network.")] = 4000,
    batch: Annotated[int, typer.Option(min=1, max=10**6, help="Clips a step.")] = 16,
    without: Annotated[
        list[str] | None,
        typer.Option(
            parser=TRAINING_MODE, help="Leave a mode out: cross_view, inverse; repeat it."
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Train a small video world model on a kit.

    From video and actions alone. On several GPUs start it with `accelerate launch`.
    """
    from evaluators.models.adapt.processes import launched
    from flows.durable.progress import set_progress, start_progress
    from flows.suites.sc3_train import WorldTrainingPlan, train_here

    plan = WorldTrainingPlan(kit, to, config, steps, batch, tuple(without or ()), seed)
    with reporting_errors(), progress() if launched().is_main else nullcontext():
        start_progress("steps", steps)
        train_here(plan, lambda step, _loss: set_progress("steps", step))
    if launched().is_main:
        folder = plain(str(to))
        say(f"{folder} holds the model. Hand it in: armillary submit --model {folder}")


@sc3.command()
def kit(
    to: Annotated[Path, typer.Argument(parser=NewFolder("the kit"), help="Where it goes.")],
    suite: RobotSuite = "sc3",
    size: Annotated[
        int | None,
        typer.Option(
            min=16,
            max=1024,
            help="Pixels a side; on our table 64, 128 or 256.",
        ),
    ] = None,
    practice: Annotated[int, typer.Option(min=0, max=10**6, help="Episodes to learn from.")] = 200,
) -> None:
    """Write first frames, recorded actions and practice.

    Practice is a LeRobot data set; beside it lie the contract of a world model and a server of 60
    lines.
    """
    from flows.durable.progress import advance_progress, start_progress
    from flows.suites.sc3_worlds import make_kit

    with reporting_errors(), progress():
        start_progress("starts", 0)
        start_progress("practice", practice)
        folder = make_kit(suite, to, size, practice, advance_progress)
    say(f"Written: {plain(str(folder))}. Its README says what is in it.")


@sc3.command()
def cosmos(
    base: Annotated[
        Path,
        typer.Argument(parser=COSMOS, help="The folder of a Cosmos 3 pipeline."),
    ],
    kit: Annotated[
        Path,
        typer.Argument(parser=KIT_FOLDER, help="What to learn from."),
    ],
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFolder("the world"), help="The world's folder; a killed run goes on from it."
        ),
    ],
    steps: Annotated[int, typer.Option(min=1, max=10**8)] = 2000,
    batch: Annotated[int, typer.Option(min=1, max=10**6, help="Clips a step and process.")] = 8,
    rate: Annotated[float, typer.Option(min=0.0, max=10.0, help="How fast it learns.")] = 1e-4,
    rank: Annotated[
        int, typer.Option(min=0, max=1024, help="Of the LoRA; 0 trains all weights.")
    ] = 16,
    device: Annotated[str, typer.Option(parser=DEVICE)] = "cpu",
    seed: Seed = 0,
) -> None:
    """Fine-tune Cosmos 3 on a kit: forward, cross-view and inverse.

    On several GPUs start it with `accelerate launch` and `--device cuda`. Then: armillary sc3
    rollout --world FOLDER.
    """
    from evaluators.models.adapt.processes import launched
    from flows.durable.progress import set_progress, start_progress
    from flows.suites.sc3_worlds import CosmosTuning, tune_cosmos

    plan = CosmosTuning(steps, batch, rate, rank, seed, device)
    with reporting_errors(), progress() if launched().is_main else nullcontext():
        start_progress("steps", steps)
        losses = tune_cosmos(base, kit, to, plan, lambda step, _loss: set_progress("steps", step))
    if launched().is_main:
        say(f"{plain(str(to))} holds the world; its last loss is {losses[-1]:.3f}.")


@sc3.command()
def policies(
    to: Annotated[
        Path,
        typer.Argument(parser=NewFolder("the networks"), help="Where the networks go."),
    ],
    practice: Annotated[
        Path | None,
        typer.Option(
            parser=NewFolder("the practice"),
            help="Where moments of practice are kept; taken once, about 8 s for 160.",
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(parser=POLICY_NETWORK, help="Only this network; repeat it."),
    ] = None,
) -> None:
    """Train the networks of the seven policies and of the annotator in the robot simulator.

    Moments of practice are taken first. About half an hour on one core; the shipped ones were made
    so.
    """
    from flows.suites.sc3_train import teach_policies

    with reporting_errors():
        files = teach_policies(to, practice or to / "practice", part or (), say)
    say(f"{len(files)} networks are in {plain(str(to))}.")


@sc3.command()
def trials(
    to: Annotated[
        Path | None,
        typer.Option(
            parser=NewFolder("the trials"),
            help="Run the policies again into this folder; a killed run goes on.",
        ),
    ] = None,
    starts: Annotated[int, typer.Option(min=1, max=10**4, help="Of each policy.")] = 10,
    secret: Annotated[
        Path | None,
        typer.Option(parser=SECRET, help="A file with an operator's seed: private starts."),
    ] = None,
) -> None:
    """Show how the seven policies fare in the robot simulator.

    Without a folder: the shipped trials, with a second real run as ceiling, blind worlds and fakes.
    """
    from flows.suites.sc3_train import shipped_controls, try_policies

    if secret and not to:
        refuse("--secret draws private starts, which are run. Say with --to into which folder.")
    with reporting_errors():
        seed = secret.read_text("utf-8").strip() if secret else ""
        counted = (lambda _line: None) if secret else say
        say(try_policies(to, starts, seed, counted) if to else shipped_controls())


@sc3.command()
def policy(
    number: Annotated[int, typer.Argument(min=1, max=7, help="Which of the seven.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
) -> None:
    """Serve a policy of the suite in openpi's protocol.

    On this machine only, until it is stopped.
    """
    from flows.suites.sc3_worlds import serve_policy

    with reporting_errors():
        server = serve_policy(number, port)
        say(f"Policy {number} answers at ws://127.0.0.1:{server.socket.getsockname()[1]}")
        server.serve_forever()


@sc3.command()
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
            parser=WORLD,
            help="http://host:port, module:factory, or the folder of a model.",
        ),
    ],
    suite: RobotSuite = "sc3",
    device: Annotated[
        str, typer.Option(parser=DEVICE, help="What a factory is called with.")
    ] = "cpu",
    policy_url: Annotated[
        list[str] | None,
        typer.Option(
            parser=POLICY_SERVER,
            help="N=URL: ask your own policy server in the place of policy N; repeat it.",
        ),
    ] = None,
    starts: Annotated[
        int, typer.Option(min=1, max=10**6, help="The first so many starts of each policy.")
    ] = 10,
    mode: Literal["offline", "online", "both"] = "both",
    clips: Annotated[bool, typer.Option(help="Also write an mp4 a view.")] = True,
) -> None:
    """Roll policies out inside a world model.

    Writes an npz, clips and a line of JSON for each rollout.
    """
    from flows.durable.progress import advance_progress, start_progress
    from flows.suites.sc3_rollouts import read_servers
    from flows.suites.sc3_worlds import WorldRollouts, roll_out_in

    def tick_rollouts(finished: int) -> None:
        for _ in range(finished):
            advance_progress("rollouts")

    servers = read_servers(policy_url or [])
    with reporting_errors(), progress():
        request = WorldRollouts(suite, world, device, to, starts, MODES[mode], servers, clips)
        start_progress("rollouts", len(request.samples()))
        rollouts = roll_out_in(request, tick_rollouts)
    say(f"{len(rollouts)} rollouts are in {plain(str(to))}.")
    if servers and suite == "sc3":
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
    labels: Annotated[
        Path | None,
        typer.Option(
            parser=ExistingFile("a CSV of labels"),
            help="Labels of annotators: sample, annotator, object, three criteria.",
        ),
    ] = None,
) -> None:
    """Make a bundle from a folder of rollouts.

    Takes those of the subset that the manifest declares.
    """
    from flows.suites.sc3_rollouts import pack as bundle
    from submissions.bundle.declarations import read_declaration

    with reporting_errors():
        path = bundle(folder, to, read_declaration(manifest), labels)
    say(f"Written: {plain(str(path))}. Next: armillary check {plain(str(path))}")

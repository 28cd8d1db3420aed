"""Adapting a judge on the command line: train it, examine it, see beforehand what it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.game.planning import plan
from flows.cli.parameters.names import FRAME_RULE
from flows.cli.parameters.paths import ExistingFolder, NewFolder
from flows.cli.parameters.values import BASE_ID, Name, Seed, Shares
from flows.cli.terminal import AsJson, plain, progress, reporting_errors, say, show_rows

ADAPTED_ON = ExistingFolder(
    "a folder with annotations.jsonl and human-gameplay-segments", ("annotations.jsonl",)
)
BASE = ExistingFolder("a model folder as save_pretrained wrote it", ("config.json",))
ADAPTER = ExistingFolder("an adapter that universe adapt wrote", ("adapter_config.json",))
Strategy = Literal[
    "zero_shot",
    "full",
    "projector_language",
    "vision_language",
    "vision_projector",
    "vision",
    "projector",
    "language",
    "upper",
    "lora",
]
DataFolder = Annotated[
    Path,
    typer.Option(
        parser=ADAPTED_ON, help="A folder with annotations.jsonl and human-gameplay-segments."
    ),
]
BaseFolder = Annotated[
    Path | None,
    typer.Option(
        parser=BASE, help="A PaliGemma, SmolVLM or Qwen-VL folder. Default: the packaged one."
    ),
]
BaseId = Annotated[
    str | None,
    typer.Option(
        parser=BASE_ID,
        help="ORG/NAME@COMMIT, the base's name on a hub: needed to hand the judge in.",
    ),
]
HeldOut = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of sessions to examine it on.")
]


def add_adapting_commands(universe: typer.Typer) -> None:
    """Put these commands under `armillary universe`."""
    universe.command()(adapt)
    universe.command()(exam)
    universe.command()(plan)


def adapt(
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFolder("the adapter"),
            help="The adapter's folder; a killed run goes on from it.",
        ),
    ],
    data: DataFolder,
    base: BaseFolder = None,
    base_id: BaseId = None,
    strategy: Strategy = "projector",
    epochs: Annotated[
        float, typer.Option(min=0.001, max=10_000, help="How often each clip comes.")
    ] = 10.0,
    steps: Annotated[int | None, typer.Option(min=1, max=10**8, help="Instead of epochs.")] = None,
    batch: Annotated[int, typer.Option(min=1, max=10**6, help="Clips at once.")] = 1,
    accumulate: Annotated[int, typer.Option(min=1, max=10**6, help="Batches a step.")] = 4,
    rate: Annotated[float, typer.Option(min=0.0, max=10.0, help="How fast it learns.")] = 5e-5,
    warmup: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of steps in which the rate rises.")
    ] = 0.1,
    rank: Annotated[int, typer.Option(min=1, max=10_000, help="Of LoRA.")] = 8,
    alpha: Annotated[int, typer.Option(min=1, max=10_000, help="Of LoRA.")] = 8,
    tasks: Annotated[
        str, typer.Option(parser=Shares(2), help="Shares of actions and characters.")
    ] = "0.8,0.2",
    formats: Annotated[
        str, typer.Option(parser=Shares(3), help="Shares of yes/no, choice and open.")
    ] = "0.15,0.05,0.8",
    questions: Annotated[
        int, typer.Option(min=1, max=8, help="A clip; image_first reads its frames once.")
    ] = 1,
    pairs: Annotated[
        bool, typer.Option(help="Three a clip: both yes/no ones, and one that names.")
    ] = False,
    board_words: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of lessons asked as the board of worlds asks: description, menu.",
        ),
    ] = 0.0,
    frames: Annotated[
        str, typer.Option(parser=FRAME_RULE, help="uniform-n or first-n.")
    ] = "uniform-8",
    mask: Literal["own", "image_first"] = "own",
    precision: Annotated[
        Literal["auto", "fp32", "bf16"], typer.Option(help="auto: bf16 on a GPU.")
    ] = "auto",
    every: Annotated[int, typer.Option(min=1, max=10**8, help="Steps between checkpoints.")] = 100,
    checkpointing: Annotated[
        bool, typer.Option(help="Compute activations again instead of keeping them.")
    ] = False,
    sharded: Annotated[
        bool, typer.Option(help="Spread weights and moments over the processes (FSDP).")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=0, max=64, help="Processes that read clips, for each GPU.")
    ] = 0,
    held_out: HeldOut = 0.2,
    team: Annotated[str, typer.Option(parser=Name("a team"))] = "my team",
    name: Annotated[
        str | None,
        typer.Option(parser=Name("a judge"), help="Its name on the board. Default: the folder's."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Adapt a vision-language model into a judge of rollouts.

    On several GPUs start it with `accelerate launch` or `torchrun`.
    """
    from evaluators.models.adapt.processes import launched
    from evaluators.models.adapt.train import TrainingPlan
    from evaluators.models.device import pick_device
    from flows.cli.game.adapt_report import report_step, say_result
    from flows.suites.universe_adapt import AdaptationRequest, LessonMixture
    from flows.suites.universe_adapt import adapt as run

    with reporting_errors() as settings, progress():
        on_gpu = pick_device(settings.device).startswith("cuda")
        training = TrainingPlan(
            strategy=strategy,
            steps=steps or 0,
            batch=batch,
            accumulate=accumulate,
            rate=rate,
            warmup=warmup,
            rank=rank,
            alpha=alpha,
            mask=mask,
            precision=("bf16" if on_gpu else "fp32") if precision == "auto" else precision,
            seed=seed,
            every=every,
            workers=workers,
            checkpointing=checkpointing,
            sharded=sharded,
        )
        request = AdaptationRequest(
            base,
            data,
            to,
            frames,
            held_out,
            team,
            name or to.name,
            base_id or "",
            settings.shelf,
            None if steps else epochs,
            LessonMixture.read(tasks, formats, questions, pairs, board_words),
        )
        adapted = run(request, training, settings.device, report_step)
    if launched().is_main:
        say_result(adapted, as_json)


def exam(
    adapter: Annotated[Path, typer.Argument(parser=ADAPTER, help="The adapter's folder.")],
    data: DataFolder,
    base: BaseFolder = None,
    held_out: HeldOut = 0.2,
    memory: Annotated[
        float | None,
        typer.Option(min=0.001, max=10_000, help="GB that a batch may take. Default: half."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Examine an adapter on sessions that were held out.

    Give the seed it was trained with: it draws the sessions. On several GPUs start it with
    `accelerate launch`.
    """
    from evaluators.models.adapt.processes import launched
    from flows.suites.judges.exam import examine_folder

    with reporting_errors() as settings:
        room = None if memory is None else int(memory * 2**30)
        cells = examine_folder(
            adapter, data, (base, settings.shelf), (held_out, seed), settings.device, room
        )
    if launched().is_main:
        rows = [
            {"held-out cell": cell, "exact match": f"{value:.1f}"} for cell, value in cells.items()
        ]
        show_rows(rows, as_json)
        say(f"Examined: {plain(str(adapter))}", err=as_json)

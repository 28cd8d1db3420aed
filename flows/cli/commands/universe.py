"""The command line of UNIVERSE: adapt a judge, import answers, put the baselines up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.cli.game.commands import add_data_commands
from flows.cli.parameters.names import FRAME_RULE, UNIVERSE_SUBSET
from flows.cli.parameters.paths import ExistingFile, ExistingFolder, Manifest, NewBundle, NewFolder
from flows.cli.parameters.values import Name, Seed
from flows.cli.terminal import AsJson, plain, progress, reporting_errors, say, show_rows

universe = typer.Typer(help="Adapt a judge, write data, import answers.", no_args_is_help=True)
add_data_commands(universe)

ADAPTED_ON = ExistingFolder(
    "a folder with annotations.jsonl and human-gameplay-segments", ("annotations.jsonl",)
)
BASE = ExistingFolder("a PaliGemma folder as save_pretrained wrote it", ("config.json",))
CLIP = ExistingFolder("a CLIP folder as save_pretrained wrote it", ("config.json",))
ANSWERS = ExistingFile("a JSONL file of answers")
Strategy = Literal[
    "zero_shot",
    "full",
    "projector_language",
    "vision_language",
    "vision_projector",
    "vision",
    "projector",
    "language",
    "lora",
]


@universe.command()
def adapt(
    to: Annotated[
        Path,
        typer.Argument(
            parser=NewFolder("the adapter"),
            help="The adapter's folder; a killed run goes on from it.",
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            parser=ADAPTED_ON, help="A folder with annotations.jsonl and human-gameplay-segments."
        ),
    ],
    base: Annotated[
        Path | None,
        typer.Option(parser=BASE, help="A PaliGemma folder. Default: the small packaged one."),
    ] = None,
    strategy: Strategy = "projector",
    steps: Annotated[int, typer.Option(min=1, max=10**8)] = 1000,
    batch: Annotated[int, typer.Option(min=1, max=10**6, help="Clips at once.")] = 1,
    accumulate: Annotated[int, typer.Option(min=1, max=10**6, help="Batches a step.")] = 4,
    rate: Annotated[float, typer.Option(min=0.0, max=10.0, help="How fast it learns.")] = 5e-5,
    rank: Annotated[int, typer.Option(min=1, max=10_000, help="Of LoRA.")] = 8,
    frames: Annotated[
        str, typer.Option(parser=FRAME_RULE, help="uniform-n or first-n.")
    ] = "uniform-8",
    mask: Literal["own", "image_first"] = "own",
    precision: Literal["fp32", "bf16"] = "fp32",
    held_out: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Share of sessions to examine it on.")
    ] = 0.2,
    team: Annotated[str, typer.Option(parser=Name("a team"))] = "my team",
    name: Annotated[
        str | None,
        typer.Option(parser=Name("a judge"), help="Its name on the board. Default: the folder's."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Adapt a vision-language model into a judge of rollouts.

    On several GPUs start it with `accelerate launch`.
    """
    from evaluators.models.adapt.train import TrainingPlan, TrainingStep
    from flows.durable.progress import set_progress, start_progress
    from flows.suites.universe_adapt import AdaptationRequest
    from flows.suites.universe_adapt import adapt as run

    def show(step: TrainingStep) -> None:
        if step.number % 20 == 0 or step.number == step.of:
            say(
                f"step {step.number} of {step.of}, loss {step.loss:.4f}, {step.seconds_left:.0f} s "
                "left",
                err=True,
            )
        set_progress("steps", step.number)

    with reporting_errors() as settings, progress():
        start_progress("steps", steps)
        plan = TrainingPlan(
            strategy=strategy,
            steps=steps,
            batch=batch,
            accumulate=accumulate,
            rate=rate,
            rank=rank,
            mask=mask,
            precision=precision,
            seed=seed,
        )
        request = AdaptationRequest(base, data, to, frames, held_out, team, name or to.name)
        adapted = run(request, plan, settings.device, show)
    trained = f"{adapted.parameters:,} of {adapted.of_parameters:,} parameters trained."
    say(trained, err=as_json)
    rows = [
        {"held-out cell": cell, "exact match": f"{value:.1f}"}
        for cell, value in adapted.held_out.items()
    ]
    show_rows(rows, as_json)
    say(
        f"Judge with it: ARMILLARY_JUDGE=vlm:{plain(str(to))}. Hand it in: armillary submit "
        f"--model {plain(str(to))}",
        err=as_json,
    )


@universe.command("import")
def import_jsonl(
    answers: Annotated[
        Path, typer.Argument(parser=ANSWERS, help='JSON lines: {"sample": id, "answer": words}.')
    ],
    to: NewBundle,
    manifest: Manifest,
) -> None:
    """Make a bundle from finished answers."""
    from evaluators.suites import suite_named
    from submissions.bundle.declarations import read_declaration
    from submissions.tools.import_answers import import_answers

    with reporting_errors(answers):
        sample_ids = {sample.id for sample in suite_named("universe").samples()}
        path = plain(str(import_answers(to, read_declaration(manifest), answers, sample_ids)))
        say(f"Written: {path}. Next: armillary check {path}")


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
    from flows.suites.universe_baselines import hand_in_baselines

    with reporting_errors() as settings:
        for name, submission_id in hand_in_baselines(settings, subset, clip):
            say(f"{name}: {submission_id}. Next: armillary evaluate {submission_id}")

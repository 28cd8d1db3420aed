"""What adapting a judge would need, before anybody tries it: memory beside a card's, and
operations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.cli.parameters.paths import ExistingFolder
from flows.cli.terminal import AsJson, reporting_errors, say, show_rows

if TYPE_CHECKING:
    from evaluators.models.adapt.sizing.count import StepCost
    from evaluators.models.adapt.strategies import Strategy

SIZED = ExistingFolder("a PaliGemma folder as save_pretrained wrote it", ("config.json",))
SPREAD: tuple[Strategy, ...] = ("full", "projector_language", "vision_language", "language")
"""Strategies that train enough to be spread over cards."""


def plan(
    base: Annotated[
        Path | None, typer.Option(parser=SIZED, help="A PaliGemma. Default: PaliGemma 2 3B.")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, max=1000, help="Clips at once.")] = 1,
    frames: Annotated[int, typer.Option(min=1, max=14, help="Of a clip.")] = 8,
    questions: Annotated[int, typer.Option(min=1, max=8, help="A clip.")] = 1,
    mask: Literal["own", "image_first"] = "own",
    rank: Annotated[int, typer.Option(min=1, max=10_000, help="Of LoRA.")] = 8,
    processes: Annotated[int, typer.Option(min=1, max=4096, help="Cards to spread over.")] = 8,
    card: Annotated[float, typer.Option(min=1, max=1000, help="A card's memory in GB.")] = 40,
    as_json: AsJson = False,
) -> None:
    """Print what every strategy of `adapt` needs.

    Counted without weights, in bf16: memory of one card, and operations of one batch there and
    back.
    """
    from evaluators.models.adapt.sizing.count import step_cost
    from evaluators.models.adapt.sizing.weightless import LessonSize
    from evaluators.models.adapt.strategies import PARTS
    from flows.suites.judges.bases import paligemma_config

    with reporting_errors():
        config = paligemma_config(base) if base else None
        size = LessonSize(batch, frames, questions)
        costs = [
            (step_cost(strategy, size, mask, shards, config, rank), shards)
            for strategy in PARTS
            for shards in ((1, processes) if strategy in SPREAD and processes > 1 else (1,))
        ]
    show_rows([row for cost, shards in costs for row in _rows(cost, shards, card)], as_json)
    say(
        f"GB of one card with {card:g} GB; checkpointed: activations computed again "
        "(--checkpointing).",
        err=as_json,
    )


def _rows(cost: StepCost, shards: int, card: float) -> Iterator[dict[str, str]]:
    from evaluators.models.adapt.sizing.count import GB, SPARE

    def fits(needed: int) -> str:
        return f"{needed / GB:.1f}{'' if needed <= SPARE * card * GB else ' (too much)'}"

    yield {
        "strategy": cost.strategy + (f", sharded over {shards}" if shards > 1 else ""),
        "trained": f"{cost.trained:,}",
        "weights": f"{cost.weights / GB:.1f}",
        "gradients": f"{cost.gradients / GB:.1f}",
        "moments": f"{cost.moments / GB:.1f}",
        "activations": f"{cost.activations / GB:.1f}",
        "total": fits(cost.total),
        "checkpointed": fits(cost.least),
        "TFLOP a batch": f"{cost.operations / 1e12:.1f}",
    }

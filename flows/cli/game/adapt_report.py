"""What adapting a judge says on the terminal, from the first process only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flows.cli.terminal import plain, say, show_rows
from flows.durable.progress import set_progress, start_progress

if TYPE_CHECKING:
    from evaluators.models.adapt.train import TrainingStep
    from flows.suites.universe_adapt import AdaptationResult

EVERY = 20


def report_step(step: TrainingStep) -> None:
    """A line now and then, and the bar."""
    if step.number == 1 or step.number % EVERY == 0 or step.number == step.of:
        say(
            f"step {step.number} of {step.of}, loss {step.loss:.4f}, {step.seconds_left:.0f} s "
            "left",
            err=True,
        )
    if step.number == 1:
        start_progress("steps", step.of)
    set_progress("steps", step.number)


def say_result(adapted: AdaptationResult, as_json: bool) -> None:
    """What was trained, the held-out cells, and what can be done with the folder."""
    say(f"{adapted.parameters:,} of {adapted.of_parameters:,} parameters trained.", err=as_json)
    rows = [
        {"held-out cell": cell, "exact match": f"{value:.1f}"}
        for cell, value in adapted.held_out.items()
    ]
    show_rows(rows, as_json)
    folder = plain(str(adapted.folder))
    if adapted.base.declared or adapted.base.packaged:
        hand_in = f"Hand it in: armillary submit --model {folder}"
    else:
        hand_in = (
            "It cannot be handed in: its base has no public name. Adapt with --base-id "
            "ORG/NAME@COMMIT."
        )
    say(f"Judge with it: ARMILLARY_JUDGE=vlm:{folder}. {hand_in}", err=as_json)

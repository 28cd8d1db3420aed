"""The operator's command for the failure modes of weak outputs."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.terminal import say, told


def failure(
    run: str,
    sample: str,
    mode: str,
    by: Annotated[str, typer.Option(help="Who decides.")],
    reason: Annotated[str, typer.Option(help="Why.")],
) -> None:
    """Say which failure mode counts for a weak output; a person's word stands over the judge's."""
    from flows.deciding import decide

    with told() as settings:
        decide(settings, run, sample, mode, by, reason)
        say(f"{sample} counts as {mode} now.")

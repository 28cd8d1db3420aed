"""The command line. Every command imports what it needs when it runs, so that `--help` answers at
once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption

from flows.cli.commands import audit, operate, read, run, study, submit
from flows.cli.commands.liva import liva
from flows.cli.commands.sc3 import sc3
from flows.cli.commands.tailor.curation import tailor
from flows.cli.commands.universe import universe

COMPLETION_HELP = {"install_completion": "Install completion for this shell."}
UNLISTED = "show_completion"
"""Works, but the help keeps its line for the panels."""


class Armillary(TyperGroup):
    """The root command; its help fits on one screen."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, with help texts for Typer's own that fit into a line."""
        parameters = super().get_params(ctx)
        for parameter in parameters:
            if isinstance(parameter, TyperOption):
                parameter.help = COMPLETION_HELP.get(parameter.name or "", parameter.help)
                parameter.hidden = parameter.hidden or parameter.name == UNLISTED
        return parameters


app = typer.Typer(
    name="armillary",
    cls=Armillary,
    help="The open leaderboard for visual world models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
PANELS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Submit": {
        "new": submit.new,
        "pack": submit.pack,
        "samples": submit.samples,
        "schema": submit.schema,
        "import": submit.import_outputs,
        "check": submit.check,
        "submit": submit.submit,
        "status": submit.status,
        "report": submit.report,
    },
    "Read": {"board": read.board, "export": read.export, "serve": read.serve},
    "Run": {
        "demo": run.demo,
        "init": run.init,
        "evaluate": run.evaluate,
        "doctor": run.doctor,
        "study": study.studies,
        "operate": operate.operate,
    },
    "Trust": {"verify": audit.verify, "audit": audit.audit},
    "Suites": {"tailor": tailor, "liva": liva, "sc3": sc3, "universe": universe},
}


def _print_version(asked_for: bool) -> None:
    if asked_for:
        from importlib.metadata import version

        typer.echo(f"armillary {version('armillary')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """The open leaderboard for visual world models."""


for panel, commands in PANELS.items():
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(command)

if __name__ == "__main__":
    app()

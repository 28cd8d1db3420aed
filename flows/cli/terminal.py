"""Output of the command line: sentences, tables, JSON, progress bars, and errors that name the
next step."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.progress import TaskID

    from flows.evaluate.backlog import Brought
    from infra.settings import Settings
    from submissions.format.errors import IntakeError, Problem

USER_ERROR = 2
OUR_FAULT = 1
MOST_WARNINGS = 20
UNBROKEN = ("id", "rank", "n/N", "state", "value", "when")
"""Columns whose values are not broken into lines."""
Rows = Sequence[Mapping[str, Any]]
AsJson = Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")]


@contextmanager
def reporting_errors(about: object = None) -> Iterator[Settings]:
    """Give the settings, and turn every foreseen error into a sentence with the next step and exit
    status 2, without a traceback.

    `about` is the bundle or file that the command reads; it is named above a list of its problems.
    """
    from pydantic import ValidationError
    from sqlalchemy.exc import OperationalError, ProgrammingError

    from flows.cli.user_errors import FORESEEN, OF_THE_DISK, explain, explain_disk, explain_settings
    from infra.settings import Settings
    from submissions.format.errors import IntakeError

    try:
        yield Settings()
    except IntakeError as error:
        _problems(error, about)
        raise typer.Exit(USER_ERROR) from None
    except (OperationalError, ProgrammingError) as error:
        why = str(error.orig).splitlines()[0]
        fail(f"The database cannot be used: {why}. Run `armillary init`, then `armillary doctor`.")
    except ValidationError as error:
        if error.title != Settings.__name__:
            raise
        fail(explain_settings(error))
    except FORESEEN as error:
        fail(explain(error))
    except OSError as error:
        if error.errno not in OF_THE_DISK:
            raise
        fail(explain_disk(error))


def _problems(error: IntakeError, about: object) -> None:
    for problem in error.problems:
        say(_line(problem, "red"), err=True)
    cut = f", the first {len(error.problems)} shown" if error.total > len(error.problems) else ""
    where = f" in {plain(str(about))}" if about else ""
    say(
        f"Not taken: {error.total} problem{'s' * (error.total > 1)}{where}{cut}. Nothing was "
        "stored.",
        err=True,
    )


def warn(warnings: tuple[Problem, ...]) -> None:
    """Print the warnings of a bundle that is accepted."""
    for warning in warnings[:MOST_WARNINGS]:
        say(_line(warning, "yellow"), err=True)
    if len(warnings) > MOST_WARNINGS:
        say(f"... and {len(warnings) - MOST_WARNINGS} more warnings.", err=True)


def _line(problem: Problem, colour: str) -> str:
    from rich.markup import escape

    text = escape(f"{problem.where}: {problem.message} {problem.hint}")
    return f"[{colour}]{problem.code}[/{colour}] {text}"


def say(text: str, err: bool = False) -> None:
    """Print a sentence; rich markup is read, so escape what others wrote."""
    from rich.console import Console

    Console(stderr=err, soft_wrap=True, highlight=False).print(text)


def plain(text: str) -> str:
    """A user's text, escaped for `say`: brackets are not read as markup."""
    from rich.markup import escape

    return escape(text)


def fail(text: str) -> NoReturn:
    """Print what is wrong and exit with the status for a user's mistake."""
    from rich.markup import escape

    say(f"[red]Stopped.[/red] {escape(text)}", err=True)
    raise typer.Exit(USER_ERROR)


def refuse(text: str) -> NoReturn:
    """Refuse a value of an option or argument; Typer adds its name and how to get help."""
    raise typer.BadParameter(text)


def announce(rows: Iterable[Brought]) -> list[Brought]:
    """Print how each submission ended as soon as it does."""
    announced = []
    for row in rows:
        announced.append(row)
        say(plain(str(row)), err=row.failed)
    return announced


def exit_on_failure(rows: Sequence[Brought]) -> None:
    """Exit with status 1 if a submission failed by a fault of ours."""
    if any(row.failed for row in rows):
        raise typer.Exit(OUR_FAULT)


def show_rows(rows: Rows, as_json: bool = False) -> None:
    """Print rows under their keys, or as a JSON list with --json."""
    show_tables({"": rows}, as_json)


def show_tables(tables: Mapping[str, Rows], as_json: bool = False) -> None:
    """Print several tables one below the other, or as one JSON object of lists with --json.

    A table without a name stands alone: its JSON is the list itself.
    """
    if as_json:
        document: Any = tables.get("", tables)
        sys.stdout.write(json.dumps(document, default=str, indent=2, ensure_ascii=False) + "\n")
        return
    for rows in tables.values():
        _draw_table(rows)


def _draw_table(rows: Rows) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not rows:
        say("Nothing to show.")
        return
    table = Table(box=None, header_style="bold")
    for name in rows[0]:
        table.add_column(name, no_wrap=name in UNBROKEN, overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(value)) for value in row.values()))
    Console(width=None if sys.stdout.isatty() else 200).print(table)


@contextmanager
def progress() -> Iterator[None]:
    """Draw progress bars on stderr while the body runs."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from flows.durable.progress import progress_reported_to

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task_ids: dict[str, TaskID] = {}

        def show(title: str, completed: int, total: int) -> None:
            if title not in task_ids or completed == 0:
                task_ids[title] = bars.add_task(title, total=total)
            bars.update(task_ids[title], completed=completed, total=total)

        with progress_reported_to(show):
            yield

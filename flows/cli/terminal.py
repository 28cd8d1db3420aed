"""What a person sees in the terminal: sentences, tables, bars, and errors that say what to do
next."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from flows.evaluate.backlog import Brought
    from infra.settings import Settings
    from submissions.format.errors import IntakeError, Problem

USER_ERROR = 2
OUR_FAULT = 1


@contextmanager
def told(about: object = None) -> Iterator[Settings]:
    """Turn every foreseen error into words, a next step and exit status 2; nobody sees a traceback
    for a mistake.

    `about` is what was handed in, to be named where several problems of it are listed.
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
    more = f", the first {len(error.problems)} shown" if error.total > len(error.problems) else ""
    where = f" in {plain(str(about))}" if about else ""
    say(
        f"Not taken: {error.total} problem{'s' * (error.total > 1)}{where}{more}. Nothing was "
        "stored.",
        err=True,
    )


def warn(warnings: tuple[Problem, ...]) -> None:
    """Show what is taken but worth a word."""
    for warning in warnings[:20]:
        say(_line(warning, "yellow"), err=True)
    if len(warnings) > 20:
        say(f"... and {len(warnings) - 20} more warnings.", err=True)


def _line(problem: Problem, colour: str) -> str:
    from rich.markup import escape

    text = escape(f"{problem.where}: {problem.message} {problem.hint}")
    return f"[{colour}]{problem.code}[/{colour}] {text}"


def say(text: str, err: bool = False) -> None:
    """Print a sentence; rich markup is read, so escape what others wrote."""
    from rich.console import Console

    Console(stderr=err, soft_wrap=True, highlight=False).print(text)


def plain(text: str) -> str:
    """Somebody's text, safe in a sentence: brackets are not read as markup."""
    from rich.markup import escape

    return escape(text)


def fail(text: str) -> NoReturn:
    """Say what is wrong and leave with the status for a user's mistake."""
    from rich.markup import escape

    say(f"[red]Stopped.[/red] {escape(text)}", err=True)
    raise typer.Exit(USER_ERROR)


def refuse(text: str) -> NoReturn:
    """Turn away a value that was typed after a command; Typer says for which option it was, and how
    to get help."""
    raise typer.BadParameter(text)


def announce(rows: Iterable[Brought]) -> list[Brought]:
    """Say of each submission how it came out, the moment it does."""
    come = []
    for row in rows:
        come.append(row)
        say(plain(str(row)), err=row.failed)
    return come


def leave(rows: Sequence[Brought]) -> None:
    """Leave with the status for a fault of ours if there was one."""
    if any(row.failed for row in rows):
        raise typer.Exit(OUR_FAULT)


def table(rows: list[dict[str, Any]]) -> None:
    """Print rows under their keys."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not rows:
        say("Nothing to show.")
        return
    drawn = Table(box=None, header_style="bold")
    for name in rows[0]:
        drawn.add_column(
            name, no_wrap=name in ("id", "rank", "n/N", "state", "value", "when"), overflow="fold"
        )
    for row in rows:
        drawn.add_row(*(escape(str(value)) for value in row.values()))
    Console(width=None if sys.stdout.isatty() else 200).print(drawn)


@contextmanager
def progress() -> Iterator[None]:
    """Bars while long work goes on."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from flows.durable.progress import heard_by

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        known: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in known or done == 0:
                known[what] = bars.add_task(what, total=total)
            bars.update(known[what], completed=done, total=total)

        with heard_by(show):
            yield

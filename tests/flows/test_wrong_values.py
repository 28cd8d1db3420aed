"""Every command, with a wrong value for every option and argument in turn, ends in words that
help."""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer
from typer.main import get_command

from flows.cli.app import app
from infra.settings import Settings
from tests.flows.command_tree import Command, Number, Parameter, commands
from tests.flows.full_home import Home, fill
from tests.flows.wrong_values import (
    CANNOT_BE_WRONG,
    COMPANIONS,
    RIGHT,
    WRONG_TEXT,
    Files,
    right,
    wrong,
)

TREE = commands(app)
RAW = re.compile(
    r"Traceback|\w+(Error|Exception)\b|NoneType|object (is|has|cannot|does) |\[Errno|<class"
    r"|errors\.pydantic\.dev"
    r"|positional argument|keyword argument|embedded null|codec can't|sqlite3\.|psycopg"
    r"|^\s*'[^']*'\s*$",
    re.MULTILINE,
)
"""What Python, its libraries or a database say, and a message that is nothing but a quoted word."""
CLAUSE = re.compile(r"[.;:?](?=\s|$)")
FEWEST_WORDS = 6
FRAME = ("Usage:", "Try", "╭", "╰")
"""How the lines begin that Typer writes around a message."""
each_command = pytest.mark.parametrize(
    "command", TREE, ids=[command.path.replace(" ", "-") for command in TREE]
)


class Started(BaseException):
    """A command began something that runs for ever."""


@dataclass(frozen=True, slots=True)
class Place:
    """The home that the commands run in, and the files to mislead them with."""

    home: Home
    files: Files


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its status and all that it printed."""

    status: int
    output: str

    @property
    def message(self) -> str:
        """What it printed, without the frame that Typer draws around a message."""
        lines = [
            text.strip("│ ") for text in self.output.splitlines() if not text.startswith(FRAME)
        ]
        return "\n".join(filter(None, lines))


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """One home for the whole walk: a command that refuses a value changes nothing in it."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="walk-") as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(os, "execv", _started)
        patch.setattr("uvicorn.run", _started)
        for variable in [
            name for name in os.environ if name.startswith(("ARMILLARY_", "PREFECT_"))
        ]:
            patch.delenv(variable)
        patch.setenv("ARMILLARY_HOME", str(folder / "home"))
        patch.setenv("COLUMNS", "10000")
        yield Place(fill(folder, Settings()), Files.make(folder))
        os.environ.clear()
        os.environ.update(before)


def _started(*arguments: Any, **_options: Any) -> NoReturn:
    raise Started(str(arguments))


def line(command: Command, parameter: Parameter, value: str, place: Place) -> list[str]:
    """The command with this value, and right ones for whatever else it needs."""
    values = {**needed(command, place), parameter: value}
    companions = COMPANIONS.get((command.function, parameter.name))
    return typed(command, values, companions(place.files) if companions else ())


def needed(command: Command, place: Place) -> dict[Parameter, str]:
    """A right value for everything that the command cannot do without."""
    required = [parameter for parameter in command.parameters if parameter.required]
    return {parameter: right(command, parameter, place.home, place.files) for parameter in required}


def typed(
    command: Command, values: Mapping[Parameter, str], companions: tuple[str, ...] = ()
) -> list[str]:
    """The words of a command line, arguments in their order at the end."""
    options = [
        word
        for parameter, text in values.items()
        if parameter.option
        for word in (parameter.option, text)
    ]
    arguments = [
        values[parameter]
        for parameter in command.parameters
        if not parameter.option and parameter in values
    ]
    return [*command.words, *options, *companions, "--", *arguments]


def run(words: list[str], tree: typer.Typer = app) -> Ended:
    """Run a command here; what it raises beside an exit is part of what it printed."""
    output, status = io.StringIO(), 0
    with redirect_stdout(output), redirect_stderr(output):
        try:
            built(tree).main(words, prog_name="armillary")
        except SystemExit as end:
            status = int(end.code or 0)
        except Exception as error:
            status = 1
            output.write(f"\n{error!r}")
    return Ended(status, output.getvalue())


@cache
def built(tree: typer.Typer) -> Any:
    """The commands, put together once: that takes longer than to run one of them."""
    return get_command(tree)


def faults(
    labels: tuple[str, ...], value: str, words: list[str], tree: typer.Typer = app
) -> list[str]:
    """What is wrong with how a command refuses a value."""
    ended = run(words, tree)
    message = ended.message
    checks = {
        f"the status is {ended.status} and not 2": ended.status != 2,
        "it speaks Python": RAW.search(message) is not None,
        "it is too short": len(message.split()) < FEWEST_WORDS,
        "it names neither the value nor the option": not any(
            text in message for text in (*labels, *echoes(value))
        ),
        "it names no next step": "--help" not in ended.output and len(CLAUSE.findall(message)) < 2,
    }
    return [f"{fault}: {words} -> {message[:300]}" for fault, holds in checks.items() if holds]


def echoes(value: str) -> list[str]:
    """How a message may repeat a value: as it is or as Python writes it, a path's end, a key, what
    a folder holds."""
    inside = [path.name for path in Path(value).iterdir()] if os.path.isdir(value) else []
    parts = (value[:40], repr(value)[1:40], Path(value).name[:40], value.partition("=")[0], *inside)
    return [text for text in parts if len(text) > 3]


@each_command
def test_a_wrong_value_is_refused_in_words_that_help_and_changes_nothing(
    command: Command, place: Place
) -> None:
    before = place.home.rows()
    calls = [
        (parameter, value)
        for parameter in command.parameters
        for value in wrong(command, parameter, place.files)
    ]

    problems = [
        fault
        for parameter, value in calls
        for fault in faults(parameter.labels, value, line(command, parameter, value, place))
    ]

    assert not problems, "\n".join([f"{len(problems)} faults in {len(calls)} calls:", *problems])
    assert place.home.rows() == before
    assert not place.files.written.exists() and not place.files.missing.exists()


@each_command
def test_a_missing_or_unknown_option_is_named(command: Command, place: Place) -> None:
    values = needed(command, place)
    labels = [label for parameter in values for label in parameter.labels]
    for absent in values:
        ended = run(
            typed(
                command,
                {parameter: text for parameter, text in values.items() if parameter is not absent},
            )
        )
        assert ended.status == 2 and "--help" in ended.output, ended.output
        assert any(label in ended.message for label in labels), ended.message

    ended = run([*command.words, "--no-such-option"])

    assert ended.status == 2 and "--no-such-option" in ended.message and "--help" in ended.output


@each_command
def test_every_value_has_a_kind_that_can_refuse_it(command: Command) -> None:
    for parameter in command.parameters:
        kind, name = parameter.kind, f"{command.path} {parameter.name}"
        assert kind not in (str, Path), f"{name}: say what it is with a parser"
        if isinstance(kind, Number):
            assert kind.lowest is not None and kind.highest is not None, f"{name} has no limits"


def test_no_exception_stands_for_a_parameter_that_does_not_exist() -> None:
    names = {
        (command.function, parameter.name) for command in TREE for parameter in command.parameters
    }

    assert {name[:2] for name in CANNOT_BE_WRONG} <= names
    assert set(COMPANIONS) <= names


def test_the_walk_has_values_for_kinds_that_are_in_use_only() -> None:
    used = {parameter.kind for command in TREE for parameter in command.parameters}

    assert set(RIGHT) <= used
    assert set(WRONG_TEXT) <= {type(kind) for kind in used}


BAD = typer.Typer(pretty_exceptions_enable=False)


@BAD.command()
def bare(word: str) -> None:
    """Say the word and nothing else."""
    typer.echo(f"Stopped. {word}", err=True)
    raise typer.Exit(2)


@BAD.command()
def raw(word: str) -> None:
    """Break."""
    raise KeyError(word)


@BAD.command()
def deaf(word: str) -> None:
    """Take whatever comes."""


@BAD.command()
def vague(word: str) -> None:
    """Say nothing about the value."""
    typer.echo("Stopped. Something is wrong with what you wrote here", err=True)
    raise typer.Exit(2)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("bare", "too short"),
        ("raw", "speaks Python"),
        ("deaf", "status is 0"),
        ("vague", "neither the value"),
    ],
)
def test_the_walk_sees_a_refusal_that_does_not_help(name: str, fault: str) -> None:
    problems = faults(("--option",), "nope", [name, "nope"], BAD)

    assert any(fault in problem for problem in problems), problems

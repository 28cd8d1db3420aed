"""Every command, with a wrong value for every option and argument in turn, ends in words that
help."""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """One home for the whole walk: a command that refuses a value changes nothing in it."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="walk-") as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(os, "execv", _started)
        patch.setattr("uvicorn.run", _started)
        for variable in [one for one in os.environ if one.startswith(("ARMILLARY_", "PREFECT_"))]:
            patch.delenv(variable)
        patch.setenv("ARMILLARY_HOME", str(folder / "home"))
        patch.setenv("COLUMNS", "10000")
        yield Place(fill(folder, Settings()), Files.make(folder))
        os.environ.clear()
        os.environ.update(before)


def _started(*what: Any, **_more: Any) -> NoReturn:
    raise Started(str(what))


def line(command: Command, parameter: Parameter, value: str, place: Place) -> list[str]:
    """The command with this one value, and right ones for whatever else it needs."""
    values = {
        one: right(command, one, place.home, place.files)
        for one in command.parameters
        if one.required
    }
    values[parameter] = value
    options = [part for one, text in values.items() if one.option for part in (one.option, text)]
    arguments = [values[one] for one in command.parameters if not one.option and one in values]
    companion = COMPANIONS.get((command.function, parameter.name))
    companions = companion(place.files) if companion else ()
    return [*command.words, *options, *companions, "--", *arguments]


def told(words: list[str], tree: typer.Typer = app) -> tuple[int, str, str]:
    """How a command ended: its status, all it said, and the message in it."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            built(tree).main(words, prog_name="armillary")
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        except Exception as error:
            status = 1
            said.write(f"\n{error!r}")
    lines = [
        text.strip("│ ") for text in said.getvalue().splitlines() if not text.startswith(FRAME)
    ]
    return status, said.getvalue(), "\n".join(filter(None, lines))


@cache
def built(tree: typer.Typer) -> Any:
    """The commands, put together once: that takes longer than to run one."""
    return get_command(tree)


def faults(
    labels: tuple[str, ...], value: str, words: list[str], tree: typer.Typer = app
) -> list[str]:
    """What is wrong with how a command refuses a value."""
    status, output, message = told(words, tree)
    checks = {
        f"the status is {status} and not 2": status != 2,
        "it speaks Python": RAW.search(message) is not None,
        "it is too short": len(message.split()) < FEWEST_WORDS,
        "it names neither the value nor the option": not any(
            text in message for text in (*labels, *echoes(value))
        ),
        "it names no next step": "--help" not in output
        and len(re.findall(r"[.;:?](?=\s|$)", message)) < 2,
    }
    return [f"{fault}: {words} -> {message[:300]}" for fault, found in checks.items() if found]


def echoes(value: str) -> list[str]:
    """How a message may repeat a value: as it is or as Python writes it, a path's end, a key, what
    a folder holds."""
    inside = [path.name for path in Path(value).iterdir()] if os.path.isdir(value) else []
    parts = (value[:40], repr(value)[1:40], Path(value).name[:40], value.partition("=")[0], *inside)
    return [text for text in parts if len(text) > 3]


@each_command
def test_a_wrong_value_is_refused_in_words_that_help(command: Command, place: Place) -> None:
    calls = [
        (parameter, value)
        for parameter in command.parameters
        for value in wrong(command, parameter, place.files)
    ]

    found = [
        fault
        for parameter, value in calls
        for fault in faults(parameter.labels, value, line(command, parameter, value, place))
    ]

    assert not found, "\n".join([f"{len(found)} faults in {len(calls)} calls:", *found])


@each_command
def test_a_missing_or_unknown_option_is_named(command: Command, place: Place) -> None:
    values = {
        one: right(command, one, place.home, place.files)
        for one in command.parameters
        if one.required
    }
    for absent in values:
        rest = [
            part
            for one, text in values.items()
            if one.option and one is not absent
            for part in (one.option, text)
        ]
        arguments = [
            text
            for one, text in values.items()
            if not one.option and (one is not absent or absent.option)
        ]
        status, output, message = told([*command.words, *rest, "--", *arguments])
        assert status == 2 and "--help" in output, output
        assert any(label in message for one in values for label in one.labels), message

    status, output, message = told([*command.words, "--no-such-option"])

    assert status == 2 and "--no-such-option" in message and "--help" in output


@each_command
def test_every_value_has_a_kind_that_can_refuse_it(command: Command) -> None:
    for parameter in command.parameters:
        kind = parameter.kind
        assert kind not in (str, Path), (
            f"{command.path} {parameter.name}: say what it is with a parser"
        )
        if isinstance(kind, Number):
            assert kind.least is not None and kind.most is not None, (
                f"{command.path} {parameter.name} has no limits"
            )


def test_a_walk_of_wrong_values_leaves_the_home_as_it_was(place: Place) -> None:
    before = place.home.rows()

    for command in TREE:
        for parameter in command.parameters:
            value = next(iter(wrong(command, parameter, place.files)))
            told(line(command, parameter, value, place))

    assert place.home.rows() == before
    assert not place.files.written.exists() and not place.files.missing.exists()


def test_no_exception_stands_for_a_parameter_that_is_gone() -> None:
    known = {(command.function, one.name) for command in TREE for one in command.parameters}

    assert {name[:2] for name in CANNOT_BE_WRONG} <= known
    assert set(COMPANIONS) <= known


def test_the_walk_has_values_for_kinds_that_are_in_use_only() -> None:
    used = {one.kind for command in TREE for one in command.parameters}

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
    found = faults(("--option",), "nope", [name, "nope"], BAD)

    assert any(fault in one for one in found), found

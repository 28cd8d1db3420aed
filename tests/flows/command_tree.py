"""Every command of the command line and every value it takes, as Typer itself knows them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.main import get_command
from typer.models import ParameterInfo


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value of a command; `kind` is what reads it, or a plain type, a pair of limits, or the
    choices."""

    name: str
    option: str
    kind: Any
    required: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """What a message may call it."""
        return (self.option,) if self.option else (f"'{self.name}'", self.name.upper())


@dataclass(frozen=True, slots=True)
class Command:
    """A command by its words, the function behind it, and what it takes."""

    words: tuple[str, ...]
    function: str
    parameters: tuple[Parameter, ...]

    @property
    def path(self) -> str:
        """Its words in one line."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Number:
    """A number from one limit to another; None where there is no limit."""

    type: type[int] | type[float]
    lowest: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]


def commands(app: typer.Typer) -> list[Command]:
    """All commands that can be run, in the order of the help."""
    return list(_below(get_command(app), ()))


def _below(command: Any, words: tuple[str, ...]) -> Iterator[Command]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from _below(inner, (*words, name))
        return
    function = inspect.unwrap(command.callback)
    hints = get_type_hints(function, include_extras=True)
    parameters = [
        _parameter(param, hints[param.name]) for param in command.params if param.name in hints
    ]
    yield Command(
        words,
        function.__name__,
        tuple(parameter for parameter in parameters if parameter.kind is not bool),
    )


def _parameter(param: Any, hint: Any) -> Parameter:
    option = max(param.opts, key=len) if param.param_type_name == "option" else ""
    return Parameter(param.name, option, _kind(hint), param.required)


def _kind(hint: Any) -> Any:
    inner, *infos = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    info = next((info for info in infos if isinstance(info, ParameterInfo)), ParameterInfo())
    if info.parser is not None:
        return info.parser
    plain = _plain(inner)
    if get_origin(plain) is Literal:
        return Choice(tuple(map(str, get_args(plain))))
    return Number(plain, info.min, info.max) if plain in (int, float) else plain


def _plain(hint: Any) -> Any:
    """The type itself, without None and without the list around it."""
    arguments = [argument for argument in get_args(hint) if argument is not NoneType]
    if get_origin(hint) is list or (len(arguments) == 1 and _is_union(hint)):
        return _plain(arguments[0])
    return hint


def _is_union(hint: Any) -> bool:
    return get_origin(hint) is Union or type(hint).__name__ == "UnionType"

"""Command lines that documents and messages show, and whether the command line understands them."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from typer.main import get_command

from flows.cli.app import app
from tests.command import ROOT

Place = Literal["block", "inline", "prose"]
"""A line of a code block is whole; one in backticks may leave required values out; in prose the
words that follow a command may belong to the sentence."""
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:[A-Z_]+=\S+\s+)*armillary\s[^`]+)`")
PROSE = re.compile(r"\barmillary ([a-z][^`\"'.,;:()\n]*)")
PLACEHOLDER = "VALUE"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The words after `armillary`, with the file and the kind of place that shows them."""

    source: str
    words: tuple[str, ...]
    place: Place

    def __str__(self) -> str:
        return f"{self.source}: armillary {' '.join(self.words)}"


def in_document(path: Path) -> Iterator[CommandLine]:
    """Command lines in the code blocks of a Markdown file, and in backticks outside of them."""
    source, text = str(path.relative_to(ROOT)), path.read_text("utf-8")
    for block in FENCE.findall(text):
        for line in block.splitlines():
            yield from _lines(source, line, "block")
    for span in INLINE.findall(FENCE.sub("", text)):
        yield from _lines(source, " ".join(span.split()), "inline")


def in_module(path: Path) -> Iterator[CommandLine]:
    """Command lines in the string literals of a Python module, in backticks and in prose."""
    for text in strings_of(ast.parse(path.read_text("utf-8"))):
        yield from in_text(str(path.relative_to(ROOT)), text)


def in_text(source: str, text: str) -> Iterator[CommandLine]:
    """Command lines in a message."""
    for span in INLINE.findall(text):
        yield from _lines(source, " ".join(span.split()), "inline")
    for words in PROSE.findall(INLINE.sub("", text)):
        yield from _lines(source, f"armillary {words}", "prose")


def strings_of(tree: ast.AST) -> Iterator[str]:
    """All texts of a module; what an f-string fills in becomes a placeholder."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(id(part) for part in node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else PLACEHOLDER
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            yield from [node.value] if isinstance(node.value, str) else []


def _lines(source: str, text: str, place: Place) -> Iterator[CommandLine]:
    for part in text.partition(" #")[0].split("&&"):
        words = split(part)
        if words[:1] == ["armillary"] and words[1:]:
            yield CommandLine(source, tuple(words[1:]), place)


def split(line: str) -> list[str]:
    """The words of a line in a shell, without variables before it, brackets around what may be left
    out, and redirection."""
    try:
        words = shlex.split(line.partition(" > ")[0].replace("[", " ").replace("]", " "))
    except ValueError:
        words = line.split()
    while words and re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    return [word for word in words if word != "…"]


def faults(line: CommandLine) -> list[str]:
    """What the command line does not understand in a shown line; values are not looked at."""
    command, words = named(line.words)
    if hasattr(command, "commands") and words and not words[0].startswith("--"):
        return [f"there is no command {words[0]!r}"]
    if line.place == "prose":
        options = [word for word in words if word.startswith("--")]
        names = {name for parameter in command.params for name in _names(parameter)}
        return [f"there is no option {name}" for name in options if name not in names]
    return _parse(command, words, whole=line.place == "block")


def named(words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command that the first words name, and the words after them."""
    command, left = root(), list(words)
    while left and left[0] in getattr(command, "commands", {}):
        command = command.commands[left.pop(0)]
    return command, left


def _parse(command: Any, words: list[str], whole: bool) -> list[str]:
    context = command.context_class(command, info_name=command.name)
    try:
        values, left, _ = command.make_parser(context).parse_args(args=list(words))
    except Exception as error:
        return [str(getattr(error, "message", error))]
    parameters = command.params if not hasattr(command, "commands") else []
    absent = [
        parameter.name
        for parameter in parameters
        if parameter.required and _is_absent(values.get(parameter.name))
    ]
    found = [f"there is no place for {word!r}" for word in left]
    return found + [f"{name} is missing" for name in absent if whole]


def _is_absent(value: object) -> bool:
    return value is None or value == () or "UNSET" in repr(value)


def _names(parameter: Any) -> Iterable[str]:
    return (*parameter.opts, *parameter.secondary_opts)


@cache
def root() -> Any:
    """The commands, put together once."""
    return get_command(app)

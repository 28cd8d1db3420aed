"""Right and wrong values for every kind of value that a command takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.cli.parameters import names, values
from flows.cli.parameters import paths as cli_paths
from tests.flows import full_home
from tests.flows.command_tree import Choice, Command, Number, Parameter
from tests.flows.full_home import Home

UNREADABLE = ("", "   ", "a\0b", "b\udcff", "c\x1b[31m")
"""Nothing, NUL, a byte that is no UTF-8, and a control sequence."""
LONG = "x" * 5000
GARBAGE = bytes(range(256)) * 8
MARKS = (
    "config.json",
    "model.safetensors",
    "model_index.json",
    "annotations.jsonl",
    "intentions.csv",
    "armillary.json",
    "rollouts.json",
    "kit.json",
    "kitchen_case01.yaml",
    "holiday.png",
)
"""What the folder of garbage holds: a file for every name by which a command tells what a folder
is."""
BAD_S3 = ("s3://", "s3:///key.zip", "s3://UPPER CASE/key.zip", "gs://bucket/key.zip")

CANNOT_BE_WRONG = {
    (
        "rejudge",
        "changelog",
        "words.txt",
    ): "every text is a changelog: lines are added under its first heading",
}
"""By function, parameter and the name of the file: what is refused elsewhere and is right here."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files and folders that nobody should take for what a command needs."""

    garbage: Path
    words: Path
    empty: Path
    folder: Path
    missing: Path
    written: Path

    @classmethod
    def make(cls, folder: Path) -> Files:
        """Write them."""
        files = cls(
            *(
                folder / name
                for name in ("garbage.bin", "words.txt", "empty", "full", "missing", "new")
            )
        )
        files.garbage.write_bytes(GARBAGE)
        files.words.write_text("The cat sat on the mat.\n", "utf-8")
        files.empty.mkdir()
        files.folder.mkdir()
        for name in MARKS:
            (files.folder / name).write_bytes(GARBAGE)
        return files


def wrong(command: Command, parameter: Parameter, files: Files) -> Iterator[str]:
    """Values that the command must refuse."""
    for value in _wrong(parameter.kind, files):
        if (command.function, parameter.name, Path(value).name) not in CANNOT_BE_WRONG:
            yield value


def _wrong(kind: Any, files: Files) -> Iterator[str]:
    match kind:
        case Number():
            yield from _wrong_numbers(kind)
        case Choice():
            yield from (*UNREADABLE, "nope", kind.words[0] + "x")
        case values.NumberOrDefault():
            yield from (*UNREADABLE, "warm", "nan", "inf", "-1", "1e9")
        case cli_paths.Place():
            yield from (*_wrong(kind.local, files), *BAD_S3)
        case cli_paths.ExistingFile():
            yield from (
                *UNREADABLE,
                LONG,
                str(files.missing),
                str(files.empty),
                str(files.garbage),
                str(files.words),
            )
        case cli_paths.ExistingFolder():
            paths = (files.missing, files.words, files.empty, files.folder)
            yield from (*UNREADABLE, LONG, *map(str, paths))
        case cli_paths.Either():
            yield from (*UNREADABLE, LONG, str(files.missing), str(files.empty))
        case cli_paths.NewFile():
            yield from (
                *UNREADABLE,
                str(files.missing / LONG),
                str(files.empty),
                str(files.words / "below"),
            )
        case cli_paths.NewFolder():
            yield from (
                *UNREADABLE,
                str(files.missing / LONG),
                str(files.words),
                str(files.words / "below"),
            )
        case names.SubmissionOrReceipt():
            yield from (*_wrong(kind.receipt, files), "sub-nothing", "nothing.json")
        case _:
            yield from (*UNREADABLE, *WRONG_TEXT[type(kind)])


WRONG_TEXT: dict[type[Any], tuple[str, ...]] = {
    values.Words: (LONG,),
    values.Name: (LONG, "<b>", "=1+1"),
    values.Shape: (LONG, "no such form", "[/b]", "../.."),
    values.Url: (
        LONG,
        "nope",
        "http://",
        "ftp://host",
        "http://[::1",
        "http://host:99999",
        "http://a b",
    ),
    values.Checked: (LONG, "No Such", "nope:nope", "3=nope", "org/name@main"),
    values.Pair: ("nope", "=text", "key=", "no_such_key=text"),
    values.Shares: (LONG, "nope", "1", "0.5,0.6", "nan,nan", "1,0,0,0", "-1,2"),
    names.NameInCode: (LONG, "nope", "[/b]"),
    names.NameInDatabase: (LONG, "nope", "sub-000000000000", "[/b]"),
    names.NameWithin: (LONG, "nope", "[/b]"),
}


def _wrong_numbers(kind: Number) -> Iterator[str]:
    yield from (*UNREADABLE, "many", "nan", "inf", "-inf", "1e999", str(10**30), str(-(10**30)))
    for limit, step in ((kind.lowest, -1), (kind.highest, 1)):
        if limit is not None:
            yield str(kind.type(limit) + step)


def right(command: Command, parameter: Parameter, home: Home, files: Files) -> str:
    """A value that the command takes."""
    kind = parameter.kind
    if kind in RIGHT:
        return RIGHT[kind](home)
    match kind:
        case Number():
            return str(kind.type(kind.lowest or 0))
        case Choice():
            return kind.words[0]
        case names.NameInCode():
            return next(iter(kind.names()))
        case cli_paths.ExistingFile() | cli_paths.Either():
            return str(files.words)
        case cli_paths.ExistingFolder():
            return str(files.folder)
        case cli_paths.NewFile() | cli_paths.NewFolder():
            return str(files.written / command.function)
        case _:
            return RIGHT_TEXT[type(kind)]


RIGHT_TEXT: dict[type[Any], str] = {
    values.Words: "in plain words",
    values.Name: "Plain name",
    values.Url: "http://127.0.0.1:9",
    values.Pair: "text=Is there a long rope?",
}
RIGHT: dict[Any, Callable[[Home], str]] = {
    names.SUITE: lambda _: "tailor",
    names.JUDGE: lambda _: "http:model@2026-01-01",
    names.SUBMISSION: lambda home: home.submission,
    names.SUBMISSION_OR_RECEIPT: lambda home: home.submission,
    names.RUN: lambda home: home.run,
    names.TEAM: lambda _: full_home.TEAM,
    names.TOKEN_PREFIX: lambda home: home.token_prefix,
    names.CURATION: lambda _: full_home.CURATION,
    names.DRAFT: lambda _: full_home.DRAFT,
    names.STUDY: lambda _: full_home.STUDY,
    names.RATER_OR_STUDY: lambda _: full_home.RATER,
    names.NameWithin("sample"): lambda home: home.sample,
    names.NameWithin("failure mode"): lambda _: full_home.MODE,
    names.NameWithin("task"): lambda _: full_home.TASK,
    names.SCENARIO: lambda _: "kitchen",
    names.WORLD: lambda _: "http://127.0.0.1:9",
    values.IMAGE_API: lambda _: "painter-1@2026-11-01",
    values.NEW_STUDY: lambda _: "second",
    cli_paths.MANIFEST: lambda home: str(home.manifest),
}
COMPANIONS: dict[tuple[str, str], Callable[[Files], tuple[str, ...]]] = {
    ("submit", "manifest"): lambda files: ("--model", str(files.empty)),
    ("invent", "image_api"): lambda files: ("--image-model", str(files.empty)),
    ("submit", "hub"): lambda files: ("--manifest", str(files.words)),
}
"""By function and parameter: options without which the command does not look at the value."""

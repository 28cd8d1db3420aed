"""Rules for names: of files in a bundle, and of people, teams and models."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from submissions.format.errors import Problem, shown

MOST_COMPONENT_BYTES = 255
MOST_PATH = 1024
MOST_LEVELS = 16
MOST_NAME = 100
FORMULA = ("=", "+", "-", "@", "\t")
FORBIDDEN_IN_NAMES = re.compile(r"[<>`\\]")
CANONICAL = "Use plain relative names such as outputs/sample.png."


def path_problems(name: str) -> Iterator[Problem]:
    """Everything wrong with one member's name."""
    where = shown(name)
    if name.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", name) or name.split("/")[0] == "..":
        yield Problem("E_PATH_ESCAPE", where, "The name points outside the bundle.", CANONICAL)
        return
    if "\\" in name or any(_unprintable(character) for character in name):
        yield Problem(
            "E_PATH_CHARS",
            where,
            "The name has a backslash, a control or an invisible character.",
            CANONICAL,
        )
        return
    parts = name.removesuffix("/").split("/")
    if any(part in ("", ".", "..") or part != part.rstrip(". ") for part in parts):
        yield Problem(
            "E_PATH_NOT_CANONICAL", where, "The name is not in its shortest form.", CANONICAL
        )
    if (
        len(name) > MOST_PATH
        or len(parts) > MOST_LEVELS
        or any(len(part.encode()) > MOST_COMPONENT_BYTES for part in parts)
    ):
        yield Problem(
            "E_PATH_LONG",
            where,
            "The name is too long or too deep.",
            "Shorten it to at most 16 levels.",
        )


def clashes(names: Iterable[str]) -> Iterator[Problem]:
    """Names that would be one file on some disk, and files that are also folders."""
    name_by_key: dict[str, str] = {}
    folders: set[str] = set()
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if key in name_by_key:
            yield Problem(
                "E_DUPLICATE_ENTRY",
                shown(name),
                "This name stands twice in the bundle.",
                "Keep one of them.",
            )
        name_by_key[key] = name
        folders.update("/".join(key.split("/")[:depth]) for depth in range(1, key.count("/") + 1))
    for key in sorted(folders & name_by_key.keys()):
        yield Problem(
            "E_PATH_CONFLICT",
            shown(name_by_key[key]),
            "This is a file and also a folder.",
            "Rename one of them.",
        )


def check_name(value: str) -> str:
    """A team's or model's name: printable, not a formula, not markup; returned as it is."""
    if not 1 <= len(value) <= MOST_NAME or value != value.strip():
        raise ValueError(f"a name has 1 to {MOST_NAME} characters and no space at either end")
    if any(_unprintable(character) for character in value) or FORBIDDEN_IN_NAMES.search(value):
        raise ValueError("a name has no control, invisible or markup characters")
    if value.startswith(FORMULA):
        raise ValueError("a name does not begin like a spreadsheet formula (= + - @)")
    return value


LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝѵьαβεηικνορτυχγωϲıℓ0135|!",
    "aeopcyxijsdhqwvbabenikvoptuxywcilolesli",
)
"""Cyrillic and Greek letters, digits and signs that look like the Latin letter below them."""


def skeleton(name: str) -> str:
    """What a name looks like at a glance: two names with one skeleton are taken for each other.

    >>> skeleton("Ра1nter") == skeleton("Painter")
    True
    """
    bare = (
        letter
        for letter in unicodedata.normalize("NFKD", name.casefold())
        if not unicodedata.combining(letter)
    )
    plain = "".join(bare).translate(LOOKALIKES).replace("i", "l")
    return "".join(letter for letter in plain if letter.isalnum())


def _unprintable(character: str) -> bool:
    """Control, format (bidi, zero width), surrogate, private or unassigned."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")

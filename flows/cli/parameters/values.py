"""Values of options and arguments: each kind reads the text, or says what is wrong and what is
right."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

import typer

from flows.cli.terminal import refuse

UNPRINTABLE = ("Cc", "Cs")
"""Control characters, and bytes of the command line that are no UTF-8."""
LONGEST = 2000
LAST_SEED = 2**31 - 1
"""What a column of whole numbers holds on every database."""


@dataclass(frozen=True, slots=True)
class Words:
    """Free text in one line; any printable text is accepted."""

    noun: str
    longest: int = LONGEST

    def __call__(self, value: str) -> str:
        """The text without spaces around it."""
        text = printable(value, self.noun)
        if len(text) > self.longest:
            refuse(
                f"{_sentence(self.noun)} has {len(text)} characters. Write at most {self.longest}."
            )
        return text


@dataclass(frozen=True, slots=True)
class Name:
    """A new name for a team, a model or a curation, by the rule for names in a manifest."""

    noun: str

    def __call__(self, value: str) -> str:
        """The name."""
        from submissions.format.errors import shown
        from submissions.format.names import check_name

        try:
            return check_name(value)
        except ValueError as error:
            refuse(f"{shown(value)} cannot name {self.noun}: {error}. Choose a plain name.")


@dataclass(frozen=True, slots=True)
class Shape:
    """A text of one form, such as an address or a hash."""

    noun: str
    pattern: str
    example: str

    def __call__(self, value: str) -> str:
        """The text, if it has the form."""
        from submissions.format.errors import shown

        if not re.fullmatch(self.pattern, value):
            refuse(f"{shown(value)} is not {self.noun}. Write it like {self.example}.")
        return value


@dataclass(frozen=True, slots=True)
class Url:
    """The address of a web server."""

    noun: str

    def __call__(self, value: str) -> str:
        """The address without a slash at its end."""
        from submissions.format.errors import shown

        if not _is_url(value):
            refuse(
                f"{shown(value)} is not the address of {self.noun}. Write it like "
                "https://host.example:8000."
            )
        return value.rstrip("/")


@dataclass(frozen=True, slots=True)
class Checked:
    """A text that the module which uses it checks; `check` raises one of the foreseen errors."""

    noun: str
    check: Callable[[str], object]

    def __call__(self, value: str) -> str:
        """The text, if nothing is wrong with it."""
        from flows.cli.user_errors import FORESEEN, explain

        text = printable(value, self.noun)
        try:
            self.check(text)
        except FORESEEN as error:
            refuse(explain(error))
        return text


@dataclass(frozen=True, slots=True)
class Pair:
    """key=text, as in `tool=a spoon`; the text may have several lines."""

    noun: str

    def __call__(self, value: str) -> str:
        """Both, as they were written."""
        from submissions.format.errors import shown

        key, _, text = value.partition("=")
        if not key.strip() or not text.strip():
            refuse(f"{shown(value)} is not {self.noun}. Write key=text, such as 'tool=a spoon'.")
        printable(value.replace("\n", " "), self.noun)
        return value


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of a whole, separated by commas, as in `0.8,0.2`; they add up to 1."""

    number: int

    def __call__(self, value: str) -> str:
        """The text, if it is so many shares."""
        from submissions.format.errors import shown

        try:
            shares = [float(share) for share in value.split(",")]
        except ValueError:
            shares = []
        fits = len(shares) == self.number and all(0 <= share <= 1 for share in shares)
        if not fits or abs(sum(shares) - 1) > 1e-6:
            refuse(
                f"{shown(value)} is not {self.number} shares that add up to 1. Write them like "
                f"{'0.8,0.2' if self.number == 2 else '0.15,0.05,0.8'}."
            )
        return value


@dataclass(frozen=True, slots=True)
class NumberOrDefault:
    """A number between two limits, or the word default."""

    lowest: float
    highest: float

    def __call__(self, value: str | float) -> float | None:
        """The number; None for `default`."""
        from submissions.format.errors import shown

        if value == "default":
            return None
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not self.lowest <= number <= self.highest:
            refuse(
                f"{shown(value)} does not fit. Write a number from {self.lowest:g} to "
                f"{self.highest:g}, or default."
            )
        return number


def printable(value: str, noun: str) -> str:
    """The text without spaces around it; an empty one, or one that no terminal can show, is
    refused."""
    from submissions.format.errors import shown

    text = value.strip()
    if not text:
        refuse(f"{_sentence(noun)} is empty: nothing stands between the quotes. Write it.")
    if any(unicodedata.category(letter) in UNPRINTABLE for letter in text):
        refuse(
            f"{shown(value)} holds a character that cannot be printed. Write {noun} in plain "
            "characters."
        )
    return text


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    plain = value.isprintable() and not re.search(r"\s", value)
    return (
        plain
        and parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and not parts.username
        and port != 0
    )


HOST = (
    r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\]|[0-9A-Fa-f:]*::[0-9A-Fa-f:]*"
)
ADDRESS = Shape("the address of a network interface", HOST, "127.0.0.1, or 0.0.0.0 for all of them")
SCHEDULER = Shape("HOST:PORT of a Dask scheduler", rf"({HOST}):[1-9]\d{{0,4}}", "10.0.0.5:8786")
IMAGE_API = Shape("a model behind an image API", r"\S+@\S+", "painter-1@2026-11-01")
SHA256 = Shape(
    "a SHA-256",
    "[0-9a-f]{64}",
    "`Head:` in the output of `armillary audit run`: 64 hexadecimal digits",
)
CONTACT = Shape(
    "an e-mail address",
    r"[^@\s\x00-\x1f\ud800-\udfff]+@[^@\s\x00-\x1f\ud800-\udfff]+",
    "team@example.org",
)
NEW_STUDY = Shape(
    "an id for a study",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
    "pilot-1: letters, digits, dots and dashes",
)
BASE_ID = Shape(
    "the id of a base model",
    r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}@[0-9a-f]{40}",
    "google/paligemma2-3b-pt-224@ and the 40 hexadecimal digits of its commit",
)
KEY = Shape(
    "a team's key", r"[\x21-\x7e]{8,200}", "arm_…, as `armillary operate token create` printed it"
)
REVIEWER = Shape(
    "a short name for a person in a review",
    r"[a-z0-9][a-z0-9_-]{0,39}",
    "ada: small letters, digits, - and _",
)
PERSON = Words("the name of the person who decides", 80)
REASON = Words("the reason")

Seed = Annotated[
    int, typer.Option(min=0, max=LAST_SEED, help="The same seed draws the same again.")
]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Where it listens.")]
BindAddress = Annotated[str, typer.Option(parser=ADDRESS, help="0.0.0.0 in a container.")]
By = Annotated[str, typer.Option("--by", parser=PERSON, help="Who decides.")]

"""Banks that an operator mounts beside the suites' own samples: folders with a `bank.json`, which
ARMILLARY_BANKS_PATH names."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from evaluators.contracts import BankCard

BANKS_PATH = "ARMILLARY_BANKS_PATH"
"""Folders of banks, separated like those of PATH."""
CARD = "bank.json"
KEYS = ("suite", "name", "version", "title")
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
VERSION = re.compile(r"[0-9A-Za-z.+-]{1,20}")
MOST_BYTES = 1 << 16
MOST_TITLE = 80


class UnsoundBankCard(ValueError):
    """A mounted folder does not say what it is; the message says what is wrong with it."""


def mounted_banks(variable: str | None = None) -> tuple[BankCard, ...]:
    """The banks that an operator named, in that order."""
    named = os.environ.get(BANKS_PATH, "") if variable is None else variable
    cards = tuple(read_card(Path(folder)) for folder in named.split(os.pathsep) if folder)
    names = [card.suite_name for card in cards]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UnsoundBankCard(
            f"{BANKS_PATH} names two banks {twice[0]!r}. Give one of them another name in {CARD}."
        )
    return cards


def read_card(folder: Path) -> BankCard:
    """What a bank's folder says of itself."""
    path = folder / CARD
    try:
        with path.open("rb") as stream:
            fields = json.loads(stream.read(MOST_BYTES))
    except FileNotFoundError:
        raise UnsoundBankCard(
            f"There is no {path}. Write one: a JSON object with {', '.join(KEYS)}."
        ) from None
    except (OSError, ValueError) as error:
        raise UnsoundBankCard(f"{path} cannot be read as JSON: {error}.") from None
    if not isinstance(fields, dict) or set(fields) != set(KEYS):
        raise UnsoundBankCard(f"{path} must be a JSON object with exactly {', '.join(KEYS)}.")
    values = {key: str(fields[key]) for key in KEYS}
    _check(path, values)
    return BankCard(**values, folder=folder.resolve())


def _check(path: Path, values: dict[str, str]) -> None:
    if not NAME.fullmatch(values["name"]):
        raise UnsoundBankCard(
            f"{path}: the name {values['name']!r} must be lower case letters, digits and _."
        )
    if not VERSION.fullmatch(values["version"]):
        raise UnsoundBankCard(f"{path}: write the version as in 1.0, not {values['version']!r}.")
    title = values["title"]
    if not title.strip() or len(title) > MOST_TITLE or not title.isprintable():
        raise UnsoundBankCard(f"{path}: the title must be a line of at most {MOST_TITLE} signs.")

"""The operator's book as somebody types it: its blocks in their order, in one shell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.command import ROOT

BOOK = ROOT / "infra" / "README.md"
CHAPTER = "## From nothing to a published entry"
BLOCK = re.compile(r"^```sh( services)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class TypedBlock:
    """Lines to type; those of services run for ever, each in a terminal of its own."""

    text: str
    services: bool


def blocks() -> Iterator[TypedBlock]:
    """The chapter's blocks."""
    chapter = BOOK.read_text().partition(CHAPTER)[2].partition("\n## ")[0]
    for services, text in BLOCK.findall(chapter):
        yield TypedBlock(text, bool(services))

"""Messages, docstrings and documents name only commands and options that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from flows.cli.app import app

ROOT = Path(__file__).parents[2]
TREE = get_command(app)
FOLDERS = ("evaluators", "flows", "infra", "leaderboard", "submissions")
NAMED = re.compile(r"(?:^|`|: |&& |bin/|\[\")armillary((?: (?:--)?[a-z][a-z0-9-]*)+)", re.MULTILINE)
"""A command line: at the start of a line, in quotes, or behind a colon as in `Next: armillary
check`."""


def texts() -> Iterator[Path]:
    """Everything that people read: code for its messages, documents, deployments."""
    for folder in FOLDERS:
        yield from (
            path for end in ("py", "md", "yaml", "sh") for path in (ROOT / folder).rglob(f"*.{end}")
        )
    yield from ROOT.glob("*.md")
    yield ROOT / "Makefile"


def absent(words: list[str]) -> str:
    """The first word that names no command and no option; empty where all exist."""
    command: Any = TREE
    for word in words:
        if word.startswith("--"):
            if not any(
                word in (*param.opts, *param.secondary_opts)
                for param in getattr(command, "params", ())
            ):
                return word
        elif (inner := getattr(command, "commands", None)) is not None:
            if word not in inner:
                return word
            command = inner[word]
    return ""


def test_every_command_that_a_text_names_exists() -> None:
    named = {
        (str(path.relative_to(ROOT)), match[1].strip())
        for path in texts()
        for match in NAMED.finditer(path.read_text("utf-8"))
    }

    wrong = sorted(
        f"{path}: armillary {line}: there is no {absent(line.split())}"
        for path, line in named
        if absent(line.split())
    )

    assert len(named) > 100
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("status --no", "--no"),
        ("stats", "stats"),
        ("study lst", "lst"),
        ("board tailor --task x", ""),
    ],
)
def test_a_word_that_is_no_command_is_found(line: str, word: str) -> None:
    assert absent(line.split()) == word

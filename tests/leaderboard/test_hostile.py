"""Sixty names and texts that want to be more than text: nothing runs, nothing is a link, nothing
breaks a line."""

from __future__ import annotations

import csv
import doctest
import io

import pandas as pd
import pytest

from infra.settings import Settings
from leaderboard.draw import words
from leaderboard.export.text import frame_as_csv
from leaderboard.queries import agreement
from tests.leaderboard.pages import VIEWS, opened

SIGNS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "</div></body>",
    "&lt;b&gt;",
    "javascript:alert(1)",
    "[a](javascript:alert(1))",
    "[a](http://example.invalid)",
    "![a](http://example.invalid/a.png)",
    "http://example.invalid",
    "www.example.invalid",
    "someone@example.invalid",
    "**bold**",
    "_it_",
    "`code`",
    "```\ncode",
    "# head",
    "> quote",
    "- item",
    "1. item",
    "| a | b |",
    ":red[red]",
    ":material/home:",
    ":smile:",
    "$x^2$",
    "$$\\int$$",
    "~~gone~~",
    "<!-- comment",
    "[^1]: note",
    "\\",
)
FORMULAS = (
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("x")',
    "=cmd|' /C calc'!A0",
    "-2+3",
    "@a",
    "=",
    "+",
)
INVISIBLE = (
    "a\u202eb",
    "\u2066x\u2069",
    "a\u200bb",
    "\ufeffx",
    "a\x00b",
    "a\x1b[31mb",
    "a\nb",
    "a\u2028b",
    "\u061cx",
    "\U000e0041x",
)
LONG = (
    "W" * 10_000,
    "a " * 5_000,
    "\u0301" * 10_000,
    "𝔘" * 10_000,
    "🏳️‍🌈" * 2_000,
    "ﷺ" * 1_000,
    "[" * 10_000,
    "*" * 10_000,
)
ALL = (*SIGNS, *FORMULAS, *INVISIBLE, *LONG)


def test_there_are_sixty_of_them() -> None:
    assert len(ALL) >= 60


@pytest.mark.parametrize("text", ALL, ids=range(len(ALL)))
def test_escaped_text_is_short_on_one_line_and_has_no_sign_of_markup_left(text: str) -> None:
    shown = words.escaped(text)

    assert len(words.name(text)) <= words.MOST_NAME
    assert not set(shown) & set("\n\r\t\x00\u202e\u2066\u200b\u2028")
    bare = shown.replace("\\\\", "")
    assert not [
        place
        for place, sign in enumerate(bare)
        if sign in "<>[]()*_`$:#|~!" and bare[place - 1] != "\\"
    ]


@pytest.mark.parametrize("text", ALL, ids=range(len(ALL)))
def test_no_cell_of_a_downloaded_table_begins_a_formula(text: str) -> None:
    made = frame_as_csv(pd.DataFrame({"Model": [text], text: [1.0]}))

    cells = [
        cell for row in csv.reader(io.StringIO(made.decode("utf-8"), newline="")) for cell in row
    ]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize("view", VIEWS)
def test_no_page_allows_html_or_shows_a_hostile_name_unescaped(
    view: str, at_board: Settings
) -> None:
    page = opened(
        view, id="sub-hostile0", run="run-hostile0-auto", runs="run-hostile0-auto,run-hostile4-auto"
    )

    assert not page.exception
    assert not [element for element in page.markdown if element.allow_html]
    assert not [
        element for element in page.markdown if "<script>" in element.value.replace("\\<", "")
    ]


@pytest.mark.parametrize("module", [words, agreement])
def test_the_examples_in_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]

"""Choices that stand behind a button with what is chosen on it.

What draws a list to type into, or a line of text, is loaded when somebody opens one: it is a sixth of a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from leaderboard.widgets import Then, pick, put_in_address, search
from leaderboard.words import escaped, plain

MOST = 15
"""In a longer list a reader wants to type."""
MOST_WORDS = 40


def menu(
    name: str,
    label: str,
    options: Sequence[str],
    value: str,
    words: Callable[[str], str] = plain,
    then: Then | None = None,
    help: str | None = None,
) -> None:
    """A button that says what is chosen and opens what else there is; the choice goes to the page's address."""
    now, key = value if value in options else options[0], f"menu-{name}"
    said = _said(label, words(now))
    if len(options) > MOST:
        with st.popover(said, help=help):
            pick(name, label, options, now, words, width=300, then=then)
        return
    titles = dict(zip(options, told_apart(words(one) for one in options), strict=True))
    shown = {one: escaped(title) + (" ✓" if one == now else "") for one, title in titles.items()}
    st.menu_button(
        said,
        options,
        key=key,
        format_func=shown.__getitem__,
        help=help,
        on_click=put_in_address,
        args=(name, key, then),
    )


def search_menu(name: str, label: str, value: str, placeholder: str) -> None:
    """A button that opens a line to type into."""
    with st.popover(_said(label, value) if value else label, icon=":material/search:"):
        search(name, label, value, placeholder, width=260)


def told_apart(titles: Iterable[str]) -> list[str]:
    """Titles of which no two are the same: a menu knows its lines by what they say.

    >>> told_apart(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    found: list[str] = []
    for title in titles:
        again = (f"{title} ({number})" for number in range(2, len(found) + 3))
        found.append(title if title not in found else next(one for one in again if one not in found))
    return found


def _said(label: str, words: str) -> str:
    return f"{escaped(label)}: **{escaped(words, MOST_WORDS)}**"

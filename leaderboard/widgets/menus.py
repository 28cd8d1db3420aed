"""Choices that stand behind a button with what is chosen on it.

What draws a list to type into, or a line of text, is loaded when somebody opens one: it is a sixth
of a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from leaderboard.draw.words import escaped, plain
from leaderboard.widgets.common import Then, pick, put_in_address, search

MOST = 20
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
    """A button that says what is chosen and opens what else there is; the choice goes to the page's
    address."""
    now, key = value if value in options else options[0], f"menu-{name}"
    button_text = _button_text(label, words(now))
    if len(options) > MOST:
        with st.popover(button_text, help=help):
            pick(name, label, options, now, words, width=300, then=then)
        return
    titles = dict(zip(options, distinct_titles(words(option) for option in options), strict=True))
    option_texts = {
        option: escaped(title) + (" ✓" if option == now else "") for option, title in titles.items()
    }
    st.menu_button(
        button_text,
        options,
        key=key,
        format_func=option_texts.__getitem__,
        help=help,
        on_click=put_in_address,
        args=(name, key, then),
    )


def search_menu(name: str, label: str, value: str, placeholder: str) -> None:
    """A button that opens a line to type into."""
    with st.popover(_button_text(label, value) if value else label, icon=":material/search:"):
        search(name, label, value, placeholder, width=260)


def distinct_titles(titles: Iterable[str]) -> list[str]:
    """Titles of which no two are the same: a menu knows its lines by what they say.

    >>> distinct_titles(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    distinct: list[str] = []
    for title in titles:
        numbered = (f"{title} ({number})" for number in range(2, len(distinct) + 3))
        distinct.append(
            title
            if title not in distinct
            else next(candidate for candidate in numbered if candidate not in distinct)
        )
    return distinct


def _button_text(label: str, words: str) -> str:
    return f"{escaped(label)}: **{escaped(words, MOST_WORDS)}**"

"""Words of others, made harmless: they cannot leave their quotes, spell a model's control token or
upset a database."""

from __future__ import annotations

import json

MARKUP = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "<>{}[]`"})


def quoted(text: str) -> str:
    """Text as one line of JSON that cannot close its quotes, open an object or spell a model's
    control token.

    >>> print(quoted('say "yes"<eos>'))
    "say \\"yes\\"\\u003ceos\\u003e"
    """
    return json.dumps(storable(text), ensure_ascii=False).translate(MARKUP)


def unmarked(text: str) -> str:
    """Text that spells no control token, for an echo of what a judge itself said."""
    return storable(text).replace("<", "\\u003c")


def storable(text: str) -> str:
    """Text that any file and any database can hold: half characters and the zero byte are spelled
    out."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")

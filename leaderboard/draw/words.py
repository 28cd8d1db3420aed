"""Words for what rows hold, and other people's text made fit to stand on a page."""

from __future__ import annotations

import re
import unicodedata

from leaderboard.queries.ranking import ALL

TRUST = {
    "A": "A: we generated and judged",
    "B": "B: they generated, we judged",
    "C": "C: taken from a paper or self-reported",
}
UNITS = {
    "percent": "%",
    "rating_0_5": "0 to 5",
    "rating_1_5": "1 to 5",
    "r": "",
    "mmrv": "",
    "rate": "",
    "count": "",
    "db": "dB",
}
DIGITS = {
    "percent": 1,
    "rating_0_5": 2,
    "r": 3,
    "mmrv": 3,
    "rate": 3,
    "db": 2,
    "rating_1_5": 2,
    "points": 1,
    "count": 2,
}
MINUS = "\u2212"
MOST_NAME = 120
WORD_JOINER = "\u2060"
LINK = re.compile(r"(?i)https?|ftp|mailto|xmpp|www|@")
"""Where markdown would begin a link by itself; an invisible joiner after it keeps it text."""
MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^=@&\"'/])")


def plain(value: str) -> str:
    """A catalogue value as a reader would write it.

    >>> plain("out_of_distribution"), plain("*")
    ('Out of distribution', 'All')
    """
    if value == ALL:
        return "All"
    text = value.replace("_", " ")
    return text[:1].upper() + text[1:]


def name(text: str, limit: int = MOST_NAME) -> str:
    """Somebody's text on one line: cut, and with invisible characters made visible.

    >>> name("a\\u202eb"), name("x" * 9, 5)
    ('a⟨202E⟩b', 'xxxx…')
    """
    cut = text[: limit + 1]
    readable = cut if cut.isprintable() else "".join(_visible(character) for character in cut)
    return readable if len(readable) <= limit else readable[: limit - 1] + "…"


def long_text(text: str, limit: int = 20_000) -> str:
    """Somebody's text of several lines, for a box that shows text as text."""
    cut = text[:limit]
    readable = "".join(
        character if character in "\n\t" else _visible(character) for character in cut
    )
    return (
        readable if len(text) <= limit else f"{readable}\n… ({len(text) - limit} more characters)"
    )


def _visible(character: str) -> str:
    return (
        f"⟨{ord(character):04X}⟩"
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        else character
    )


def escaped(text: str, limit: int = MOST_NAME) -> str:
    """Foreign text for use inside markdown, with every markup character escaped.

    >>> escaped("<b> [x](y) :red[z]")
    '\\\\<b\\\\> \\\\[x\\\\]\\\\(y\\\\) \\\\:red\\\\[z\\\\]'
    """
    unlinked = LINK.sub(lambda match: f"{match[0]}{WORD_JOINER}", name(text, limit))
    return MARKUP.sub(r"\\\1", unlinked)


def number(value: float | None, unit: str) -> str:
    """A figure with the digits its unit deserves, and a minus sign rather than a hyphen.

    >>> number(-0.5, "r"), number(None, "r"), number(-0.0001, "r")
    ('−0.500', '—', '0.000')
    """
    return "—" if value is None else f"{value:z.{digits(unit)}f}".replace("-", MINUS)


def interval(low: float, high: float, unit: str) -> str:
    """From one figure to the next; a dash would be read as a minus before a negative one.

    >>> interval(1, 2.25, "db"), interval(-14.46, -6.39, "db")
    ('1.00–2.25', '−14.46 to −6.39')
    """
    between = "–" if low >= 0 else " to "
    return f"{number(low, unit)}{between}{number(high, unit)}"


def digits(unit: str) -> int:
    """How many decimals a unit is shown with."""
    return DIGITS.get(unit, 2)


def titled(title: str, unit: str) -> str:
    """A metric's title with its unit.

    >>> titled("Realism", "rating_0_5"), titled("Index (our own)", "percent")
    ('Realism (0 to 5)', 'Index (our own), %')
    """
    short = UNITS.get(unit, unit)
    if not short:
        return title
    return f"{title}, {short}" if title.endswith(")") else f"{title} ({short})"


def spell(seconds: float) -> str:
    """A span of time in words.

    >>> spell(40), spell(400), spell(9000)
    ('1 minute', '7 minutes', '2.5 hours')
    """
    minutes = max(1, round(seconds / 60))
    return (
        f"{seconds / 3600:.1f} hours"
        if minutes >= 120
        else f"{minutes} minute{'s' * (minutes > 1)}"
    )


ARROW = {True: "↑ higher is better", False: "↓ lower is better"}

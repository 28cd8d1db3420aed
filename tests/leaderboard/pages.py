"""Running one page without a browser."""

from __future__ import annotations

from html.parser import HTMLParser

from streamlit.testing.v1 import AppTest

VIEWS = (
    "overview",
    "ranking",
    "gaps",
    "samples",
    "compare",
    "model",
    "papers",
    "judges",
    "items",
    "studies",
    "methods",
    "submit",
    "system",
    "teams",
)


def room(view: str) -> str:
    """The package in which a page lives."""
    operators = view in ("review", "studies", "system", "teams")
    return "leaderboard.views.operators" if operators else "leaderboard.views"


def opened(view: str, **params: str) -> AppTest:
    """The page as it is after a link to it was followed."""
    page = AppTest.from_string(
        f"from {room(view)} import {view}\n{view}.page()", default_timeout=30
    )
    for key, value in params.items():
        page.query_params[key] = value
    return page.run()


def whole_app() -> AppTest:
    """The app itself, as `armillary serve` runs it."""
    from importlib.resources import files

    return AppTest.from_file(str(files("leaderboard.apps") / "board.py"), default_timeout=30).run()


def words_of(page: AppTest) -> str:
    """Everything the page says outside its tables."""
    kinds = (
        "title",
        "header",
        "subheader",
        "markdown",
        "caption",
        "text",
        "info",
        "warning",
        "error",
        "success",
        "code",
    )
    return "\n".join(
        str(getattr(element, "value", "")) for kind in kinds for element in page.get(kind)
    )


class _TableReader(HTMLParser):
    """Reads the rows of HTML tables as a screen reader would: the words of each cell."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._inside = False

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._inside = True
        elif tag in ("small", "img") and self._inside:
            self.tables[-1][-1][-1] += "|"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.tables[-1][-1][-1] += data


def tables_of(page: AppTest) -> list[list[dict[str, str]]]:
    """The HTML tables of a page: one dict a row, by column; small print stands behind a bar."""
    reader = _TableReader()
    for element in page.get("html"):
        reader.feed(element.proto.body)
    return [
        [dict(zip(table[0], row, strict=True)) for row in table[1:] if len(row) == len(table[0])]
        for table in reader.tables
    ]


ALLOWED_TAGS = {
    *("a", "b", "br", "caption", "details", "div", "hr", "img", "li", "p", "script", "small"),
    *("span", "style", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}


def strange_html(page: AppTest) -> list[str]:
    """Tags and attributes in the page's HTML that only somebody else's text could have brought."""
    strange: list[str] = []

    class Inspector(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            names = [name for name, _ in attrs]
            where = [value or "" for name, value in attrs if name in ("href", "src")]
            if tag not in ALLOWED_TAGS or any(name.startswith("on") for name in names):
                strange.append(f"<{tag} {' '.join(names)}>")
            strange.extend(value for value in where if value.lower().startswith("javascript"))

    for element in page.get("html"):
        Inspector().feed(element.proto.body)
    return strange


def models_of(table: list[dict[str, str]]) -> list[str]:
    """The names in a ranking, top to bottom."""
    return [row["Model"].strip("|").split("|")[0].removesuffix("new") for row in table]

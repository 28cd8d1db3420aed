"""Running one page without a browser."""

from __future__ import annotations

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
    "studies",
    "methods",
    "submit",
    "system",
)


def room(view: str) -> str:
    """The package in which a page lives."""
    operators = view in ("review", "studies", "system")
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

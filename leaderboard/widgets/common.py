"""Widgets that several pages share. The page's query parameters hold the state; a widget only
writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from sqlmodel import Session

from infra.settings import Settings
from leaderboard.cache import snapshot
from leaderboard.cache.reader import reader
from leaderboard.draw import charts
from leaderboard.draw.words import plain
from leaderboard.export.text import frame_as_csv, frame_as_json, frame_as_parquet

P = ParamSpec("P")
T = TypeVar("T")
Then = Callable[[dict[str, str]], dict[str, str]]
"""What else a choice changes in the page's address."""


def settings() -> Settings:
    """The settings; reading them anew for every question would take longer than the answer."""
    environment = sorted(pair for pair in os.environ.items() if _is_read(pair[0]))
    return _settings(tuple(environment), os.getcwd())


def _is_read(variable: str) -> bool:
    """Whether settings depend on a variable; `HOME` stands for `~` in a path."""
    return variable == "HOME" or variable.upper().startswith("ARMILLARY_")


@lru_cache(maxsize=8)
def _settings(_environment: tuple[tuple[str, str], ...], _working_folder: str) -> Settings:
    """Settings read once for each environment and working folder: relative paths are made absolute
    by it."""
    return Settings()


def ask(question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Put a question to the board's database."""
    return reader(settings()).ask(question, *args, **kwargs)


def ask_now(question: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Put a question to the database, without the remembered answers."""
    return reader(settings()).ask_now(question, *args, **kwargs)


def address(params: Mapping[str, str]) -> None:
    """Write the page's address, if it says something else."""
    if st.query_params.to_dict() != dict(params):
        st.query_params.from_dict(params)


def pick(
    name: str,
    label: str,
    options: Sequence[str],
    value: str,
    words: Callable[[str], str] = plain,
    width: int = 164,
    then: Then | None = None,
    help: str | None = None,
) -> None:
    """A list to choose from; what is chosen goes to the page's address, and the page runs again."""
    key = f"pick-{name}"
    st.session_state[key] = value if value in options else options[0]
    st.selectbox(
        label,
        options,
        key=key,
        format_func=words,
        width=width,
        help=help,
        on_change=put_in_address,
        args=(name, key, then),
    )


def press(
    name: str,
    label: str,
    options: Sequence[str],
    value: str,
    words: Callable[[str], str] = plain,
    then: Then | None = None,
) -> None:
    """A row of buttons of which one is selected; the choice goes to the page's address."""
    key = f"pick-{name}"
    st.session_state[key] = value if value in options else options[0]
    st.segmented_control(
        label or plain(name),
        options,
        key=key,
        format_func=words,
        required=True,
        label_visibility="visible" if label else "collapsed",
        on_change=put_in_address,
        args=(name, key, then),
    )


def search(name: str, label: str, value: str, placeholder: str = "", width: int = 220) -> None:
    """A line of text that goes to the page's address."""
    key = f"pick-{name}"
    st.session_state[key] = value
    st.text_input(
        label,
        key=key,
        placeholder=placeholder,
        max_chars=100,
        width=width,
        on_change=put_in_address,
        args=(name, key, None),
    )


def choose_columns(name: str, label: str, options: Sequence[str], hidden: Sequence[str]) -> None:
    """Which columns of a table to show; those that are not go to the page's address."""
    key = f"pick-{name}"
    st.session_state[key] = [option for option in options if option not in hidden]
    with st.popover(label, icon=":material/view_column:"):
        st.pills(
            "Columns",
            options,
            selection_mode="multi",
            key=key,
            on_change=_hide,
            args=(name, key, options),
        )


def _hide(name: str, key: str, options: Sequence[str]) -> None:
    visible = st.session_state[key] or []
    st.query_params[name] = ",".join(option for option in options if option not in visible)


def put_in_address(name: str, key: str, then: Then | None) -> None:
    """What a widget holds, in one write, so that one step back takes one choice back."""
    params = {**st.query_params.to_dict(), name: str(st.session_state[key] or "")}
    st.query_params.from_dict(then(params) if then else params)


def remember_pages(pages: Sequence[Any]) -> None:
    """Remember the pages, so that one can link to another."""
    st.session_state["pages"] = {page.url_path: page for page in pages}


def link(
    where: str, label: str, params: Mapping[str, str] | None = None, icon: str | None = None
) -> None:
    """A link to another page of the board, with its address filled in."""
    page = st.session_state.get("pages", {}).get(where)
    if page is None:
        st.markdown(f"[{label}]({where}?{urlencode(params or {})})")
    else:
        st.page_link(page, label=label, icon=icon, query_params=dict(params or {}))


def downloads(frame: pd.DataFrame, stem: str) -> None:
    """The table on the page, as files."""
    makers = {"csv": frame_as_csv, "json": frame_as_json, "parquet": frame_as_parquet}
    with st.container(horizontal=True):
        for kind, make in makers.items():
            st.download_button(
                kind.upper() if kind != "parquet" else "Parquet",
                partial(make, frame),
                file_name=f"{stem}.{kind}",
                key=f"download-{stem}-{kind}",
                on_click="ignore",
                icon=":material/download:",
            )


def draw(chart: Any, key: str) -> None:
    """A chart, and buttons that give it as a file; nothing is drawn for a file until somebody
    asks."""
    # Our own charts are sound, tests see to it; checking each against Vega's schema takes longer
    # than drawing it.
    styled = charts.dressed(chart)
    st.vega_lite_chart(styled.to_dict(validate=False), key=key)
    chart_files(lambda: styled, key)


def chart_files(make: Callable[[], Any], key: str) -> None:
    """Buttons that give a chart as a file."""
    kinds: tuple[tuple[str, Callable[[Any], bytes], str], ...] = (
        ("SVG", charts.as_svg, "image/svg+xml"),
        ("PNG", charts.as_png, "image/png"),
    )
    with st.container(horizontal=True):
        for kind, draw_file, mime in kinds:
            file, own = f"{key}.{kind.lower()}", f"{kind}-{key}"
            st.download_button(
                f"Chart as {kind}",
                partial(_file, draw_file, make),
                file,
                mime,
                own,
                on_click="ignore",
                type="tertiary",
            )


def _file(draw_file: Callable[[Any], bytes], make: Callable[[], Any]) -> bytes:
    return draw_file(make())


def table(rows: Sequence[Mapping[str, Any]] | pd.DataFrame, key: str | None = None) -> None:
    """A plain table; moments are shown to the second, in UTC."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    moments = [name for name in frame.columns if str(frame[name].dtype).startswith("datetime")]
    column_config = {
        name: st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss", timezone="UTC")
        for name in moments
    }
    st.dataframe(frame, hide_index=True, placeholder="—", column_config=column_config, key=key)


def no_board(why: str) -> None:
    """Draw instructions instead of a page while there is no board."""
    if snapshot.taken_at(snapshot.path(settings())):
        _away()
        return
    st.title("Armillary")
    st.info(f"{why} This board has nothing to show yet.", icon=":material/info:")
    st.markdown("Create the database and load the suites with the figures their papers print:")
    st.code("armillary init", language=None)
    st.markdown("Or run the whole path once, with small models made on the spot:")
    st.code("armillary demo", language=None)
    st.markdown(
        "`armillary doctor` says what is reachable and what is wrong. This page shows the board as "
        "soon as it is there."
    )
    st.button("Look again", icon=":material/refresh:")


def _away() -> None:
    """Draw a notice on a page that needs the database while only the snapshot can be read."""
    st.title("Back in a while")
    st.info(
        "This page needs the database, which does not answer now. The board can be read.",
        icon=":material/info:",
    )
    link("ranking", "The last published ranking", icon=":material/leaderboard:")
    st.button("Look again", icon=":material/refresh:")


def notice() -> None:
    """Warn when the database does not answer and the page shows remembered rows."""
    since = reader(settings()).stale_since
    if since:
        st.warning(
            "The database does not answer. What you see is the board as it was at "
            f"{since:%Y-%m-%d %H:%M} UTC; "
            "single outputs and answers may be missing.",
            icon=":material/cloud_off:",
        )

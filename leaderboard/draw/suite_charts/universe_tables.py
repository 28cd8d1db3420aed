"""The tables behind UNIVERSE's charts: whose rows may stand beside each other, and runs of one
recipe as one."""

from __future__ import annotations

import re

import pandas as pd

EM = "em_normalised"
FORMATS = ["binary", "multiple_choice", "open_ended"]
TASKS = ["action_recognition", "character_recognition"]
PAPER = "C"
"""The trust of what a paper prints: about its own clips, never beside ours in one chart."""
RECIPE = "recipe"
"""A column that says which runs are one recipe with other seeds; empty where nobody said."""
RUN = re.compile(
    r"PaliGemma 2 3B, projector, (?:(?P<policy>first|uniform) )?(?P<n>\d+) (?P<uniform>uniform "
    r")?frames?, "
    r"(?P<epochs>[\d.]+) epochs?$"
)
EPOCHS = re.compile(r", (?P<epochs>[\d.]+ epochs?)$")


def exact_match(figures: pd.DataFrame) -> pd.DataFrame:
    """Exact match in the adaptation environment, at one task and format each."""
    adapted = (figures["metric"] == EM) & (figures["scenario"] == "environment_1")
    single_cell = figures["task"].isin(TASKS) & figures["setting"].isin(FORMATS)
    return figures[adapted & single_cell & figures["value"].notna()]


def printed(figures: pd.DataFrame) -> pd.DataFrame:
    """What the paper prints."""
    return figures[figures["trust"] == PAPER]


def fullest_board(figures: pd.DataFrame) -> pd.DataFrame:
    """Our own rows of one board: that with the most judges, the most questions among equals. Other
    boards have other questions or another scorer."""
    ours = figures[figures["trust"] != PAPER]
    if ours.empty:
        return ours
    boards = ours.groupby("board").agg(judges=("run_id", "nunique"), asked=("n_expected", "sum"))
    board = boards.sort_values(["judges", "asked"], ascending=False, kind="stable").index[0]
    return ours[ours["board"] == board]


def by_recipe(cells: pd.DataFrame) -> pd.DataFrame:
    """One row a judge and cell; runs of one recipe are averaged, and the standard deviation over
    their seeds is the error bar. Without a recipe each run stands for itself."""
    stated = cells[RECIPE].fillna("") if RECIPE in cells else pd.Series("", cells.index)
    own = cells["run_id"].where(cells["run_id"].notna(), cells["model"])
    keyed = cells.assign(key=stated.where(stated != "", own))
    names = keyed.groupby("key")["model"].unique().map(_shared_name)
    grouped = keyed.groupby(["key", "trust", "task", "setting"], as_index=False)
    judged = grouped.agg(
        value=("value", "mean"),
        between=("value", "std"),
        printed=("spread", "first"),
        low=("low", "mean"),
        high=("high", "mean"),
    )
    spread = judged["between"].fillna(judged["printed"])
    return judged.assign(
        judge=judged["key"].map(names),
        low=(judged["value"] - spread).fillna(judged["low"]),
        high=(judged["value"] + spread).fillna(judged["high"]),
    )


def whole_judges(judged: pd.DataFrame) -> pd.DataFrame:
    """The judges that have every task and format: a mean over fewer is no mean of the same."""
    cells = len(judged[["task", "setting"]].drop_duplicates())
    return judged.groupby("key").filter(lambda rows: len(rows) == cells)


def printed_runs(figures: pd.DataFrame) -> pd.DataFrame:
    """The paper's projector runs, with frames, how they were chosen, and epochs as its tables call
    them."""
    cells = exact_match(printed(figures))
    read = cells["model"].str.extract(RUN)
    swept = cells.assign(
        n=pd.to_numeric(read["n"]), epochs=pd.to_numeric(read["epochs"]),
        policy=read["uniform"].map(lambda word: "uniform" if isinstance(word, str) else "first"),
    )  # fmt: skip
    return swept[swept["n"].notna()]


def with_share(
    cells: pd.DataFrame, pattern: re.Pattern[str], group: str, mixed: str
) -> pd.DataFrame:
    """The runs whose mixture a pattern finds; runs of other lengths are another column."""
    share = pd.to_numeric(cells["model"].str.extract(pattern)[group])
    epochs = cells["model"].str.extract(EPOCHS)["epochs"]
    column = epochs.map(lambda told: f"{mixed}, {told}" if isinstance(told, str) else mixed)
    return cells.assign(share=share, mixed=column)[share.notna()]


def _shared_name(models: list[str]) -> str:
    """The words that the names of a recipe's runs begin with, and how many runs there are."""
    if len(models) == 1:
        return models[0]
    words = []
    for column in zip(*(model.split(" ") for model in models), strict=False):
        if len(set(column)) > 1:
            break
        words.append(column[0])
    shared = " ".join(words).removesuffix("seed").rstrip(" ,") or models[0]
    return f"{shared} ({len(models)} runs)"

"""UNIVERSE's charts: judges by task and format, what frames, epochs and mixtures do, how people
rate the best one."""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import pandas as pd

from leaderboard.draw.charts import COLOURS, NAMED
from leaderboard.draw.suite_charts import SuiteChart

EM = "em_normalised"
FORMATS = ["binary", "multiple_choice", "open_ended"]
TASKS = ["action_recognition", "character_recognition"]
CLIPS = 32_453
"""Training clips of one epoch, as the paper says."""
MOST = 12
SEED = re.compile(r", seed \d+$")
RUN = re.compile(
    r"PaliGemma 2 3B, projector, (?:(?P<policy>first|uniform) )?(?P<n>\d+) (?P<uniform>uniform "
    r")?frames?, "
    r"(?P<epochs>[\d.]+) epochs?$"
)
TASK_MIX = re.compile(r"tasks mixed AR (?P<share>[\d.]+) CR")
FORMAT_MIX = re.compile(
    r"formats mixed binary (?P<binary>[\d.]+) MC (?P<mc>[\d.]+) OE (?P<oe>[\d.]+)"
)


def task_by_format(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Bars with error bars: the best judges in each task and format; runs of several seeds are one
    bar."""
    judged = _by_judge(_cells(figures))
    if judged.empty:
        return None
    best = judged.groupby("judge")["value"].mean().nlargest(MOST).index
    best_rows = judged[judged["judge"].isin(best)]
    y = alt.Y("judge:N", title=None, sort=list(best), axis=alt.Axis(labelLimit=260))
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(x=alt.X("value:Q", title="Exact match, %"), y=y, color=_trust(), tooltip=_tips())
    )
    ends = alt.Chart().mark_rule().encode(x="low:Q", x2="high:Q", y=y)
    return (
        alt.layer(bars, ends, data=best_rows)
        .properties(width=170)
        .facet(
            row=alt.Row("task:N", header=NAMED),
            column=alt.Column("setting:N", header=NAMED, sort=FORMATS),
        )
    )


def frames_by_epochs(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """A map of exact match over frames seen and epochs trained, a format and task each."""
    runs = _runs(figures)
    swept = runs[runs["policy"] != "uniform"] if not runs.empty else runs
    if swept.empty or swept["n"].nunique() < 2 or swept["epochs"].nunique() < 2:
        return None
    cells = (
        alt.Chart(swept)
        .mark_rect()
        .encode(
            x=alt.X("epochs:O", title="Epochs"),
            y=alt.Y("n:O", title="First frames", sort="descending"),
            color=alt.Color("value:Q", title="Exact match, %", scale=alt.Scale(scheme="viridis")),
            tooltip=_tips(),
        )
    )
    return _grid(
        cells,
        190,
        150,
        row=alt.Row("task:N", header=NAMED),
        column=alt.Column("setting:N", header=NAMED, sort=FORMATS),
    )


def first_or_uniform(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Lines over the number of frames: the first ones against frames spread over the clip."""
    runs = _runs(figures)
    if runs.empty:
        return None
    once = runs[runs["epochs"] == 1]
    both = pd.concat([once, once[once["n"] == 1].assign(policy="uniform")])
    if both[both["policy"] == "uniform"]["n"].nunique() < 2:
        return None
    line = (
        alt.Chart(both)
        .mark_line(point=True)
        .encode(
            x=alt.X("n:O", title="Frames"),
            y=alt.Y("value:Q", title="Exact match, %", scale=alt.Scale(zero=False)),
            color=alt.Color("policy:N", title="Frames chosen", scale=alt.Scale(range=COLOURS)),
            tooltip=_tips(),
        )
    )
    return _grid(
        line,
        190,
        150,
        row=alt.Row("task:N", header=NAMED),
        column=alt.Column("setting:N", header=NAMED, sort=FORMATS),
    )


def mixtures(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Lines over what the training questions were mixed of: shares of tasks, and of open-ended
    questions."""
    cells = _cells(figures)
    tasks = _matched(cells, TASK_MIX, "share", "share of action questions")
    formats = _matched(cells, FORMAT_MIX, "oe", "share of open-ended questions")
    mixed = pd.concat([tasks, formats])
    if mixed.empty:
        return None
    line = (
        alt.Chart(mixed)
        .mark_line(point=True)
        .encode(
            x=alt.X("share:Q", title="Share in training"),
            y=alt.Y("mean(value):Q", title="Exact match, %"),
            color=alt.Color(
                "setting:N", title="Format", sort=FORMATS, scale=alt.Scale(range=COLOURS)
            ),
        )
    )
    return _grid(
        line,
        260,
        170,
        row=alt.Row("task:N", header=NAMED),
        column=alt.Column("mixed:N", title=None),
    )


def early_characters(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """How fast characters are learned within the first epochs, one frame seen."""
    runs = _runs(figures)
    swept = (
        runs[(runs["task"] == "character_recognition") & (runs["n"] == 1)]
        if not runs.empty
        else runs
    )
    if swept.empty or swept["epochs"].nunique() < 3:
        return None
    chart: alt.TopLevelMixin = (
        alt.Chart(swept)
        .mark_line(point=True)
        .encode(
            x=alt.X("epochs:Q", title="Epochs", scale=alt.Scale(type="log")),
            y=alt.Y("value:Q", title="Exact match on characters, %", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "setting:N", title="Format", sort=FORMATS, scale=alt.Scale(range=COLOURS)
            ),
            tooltip=_tips(),
        )
        .properties(height=240)
    )
    return chart


def settings_by_people(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Bars a setting: graded and strict accuracy as people rate the answers, with the raters' kappa
    above."""
    people = figures[
        figures["metric"].isin(["graded_accuracy", "strict_accuracy"])
        & (figures["evaluator"] == "human")
    ]
    if people.empty:
        return None
    means = people.groupby(["scenario", "metric"], as_index=False)["value"].mean()
    kappas = figures[figures["metric"] == "cohen_kappa"][["scenario", "value"]]
    bars = (
        alt.Chart(means)
        .mark_bar()
        .encode(
            x=alt.X("scenario:N", title=None),
            xOffset="metric:N",
            y=alt.Y("value:Q", title="Accuracy, %"),
            color=alt.Color("metric:N", title=None, scale=alt.Scale(range=COLOURS)),
            tooltip=["scenario", "value"],
        )
    )
    words = (
        alt.Chart(kappas)
        .mark_text(dy=-4)
        .encode(x="scenario:N", y=alt.datum(100), text=alt.Text("value:Q", format=".2f"))
    )
    return alt.layer(bars, words).properties(height=260)


def against_other_metrics(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """A map of Pearson's r between a judge's scores and other metrics of the same rollouts."""
    correlations = figures[figures["metric"].str.startswith("pearson_")]
    if correlations.empty:
        return None
    base = alt.Chart(correlations).encode(
        x=alt.X("scenario:N", title=None), y=alt.Y("task:N", title=None)
    )
    scale = alt.Scale(scheme="blueorange", domain=[-1, 1])
    cells = base.mark_rect().encode(color=alt.Color("value:Q", title="r", scale=scale))
    return alt.layer(
        cells, base.mark_text().encode(text=alt.Text("value:Q", format=".2f"))
    ).properties(height=120)


def efficiency(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Dots: clips trained on against exact match, one frame seen."""
    runs = _runs(figures)
    single_frame = (
        runs[runs["n"] == 1].assign(clips=lambda table: table["epochs"] * CLIPS)
        if not runs.empty
        else runs
    )
    if single_frame.empty:
        return None
    dots = (
        alt.Chart(single_frame)
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X("clips:Q", title="Clips trained on", scale=alt.Scale(type="log")),
            y=alt.Y("value:Q", title="Exact match, %", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "setting:N", title="Format", sort=FORMATS, scale=alt.Scale(range=COLOURS)
            ),
            tooltip=_tips(),
        )
    )
    return _grid(dots, 320, 220, column=alt.Column("task:N", header=NAMED))


CHARTS = (
    SuiteChart(
        "task-by-format",
        "Judges by task and format",
        f"The best {MOST} judges, papers' rows grey. Lines: 95 % interval, or the spread "
        "over seeds.",
        task_by_format,
    ),
    SuiteChart(
        "frames-by-epochs",
        "Frames and epochs",
        "Printed by the paper: projector only, first frames.",
        frames_by_epochs,
    ),
    SuiteChart(
        "first-or-uniform",
        "First or uniform frames",
        "Printed by the paper: projector only, one epoch.",
        first_or_uniform,
    ),
    SuiteChart(
        "mixtures",
        "What training was mixed of",
        "Printed by the paper; means over epochs.",
        mixtures,
    ),
    SuiteChart(
        "early-characters",
        "Characters in the first epochs",
        "Printed by the paper: projector, one frame.",
        early_characters,
    ),
    SuiteChart(
        "settings",
        "Eight settings, rated by people",
        "Graded counts a partly correct answer half. The number on top is the two raters' kappa.",
        settings_by_people,
    ),
    SuiteChart(
        "other-metrics",
        "Against FVD",
        "Pearson's r a setting and task; near 0: FVD sees something else.",
        against_other_metrics,
    ),
    SuiteChart(
        "efficiency",
        "Clips trained on",
        "Printed by the paper: projector, one frame. Epochs of 32,453 clips.",
        efficiency,
    ),
)


def _grid(chart: Any, width: int, height: int, **by: Any) -> alt.TopLevelMixin:
    """The same chart for each value of a row and a column."""
    faceted: alt.TopLevelMixin = chart.properties(width=width, height=height).facet(**by)
    return faceted


def _cells(figures: pd.DataFrame) -> pd.DataFrame:
    """Exact match in the adaptation environment, at one task and format each."""
    adapted = (figures["metric"] == EM) & (figures["scenario"] == "environment_1")
    single_cell = figures["task"].isin(TASKS) & figures["setting"].isin(FORMATS)
    return figures[adapted & single_cell & figures["value"].notna()]


def _by_judge(cells: pd.DataFrame) -> pd.DataFrame:
    """One row a judge and cell; seeds of a judge are averaged, their standard deviation is the
    error bar."""
    named = cells.assign(judge=cells["model"].str.replace(SEED, "", regex=True))
    grouped = named.groupby(["judge", "trust", "task", "setting"], as_index=False)
    judged = grouped.agg(
        value=("value", "mean"),
        between=("value", "std"),
        printed=("spread", "first"),
        low=("low", "mean"),
        high=("high", "mean"),
    )
    spread = judged["between"].fillna(judged["printed"])
    return judged.assign(low=(judged["value"] - spread).fillna(judged["low"]),
                        high=(judged["value"] + spread).fillna(judged["high"]))  # fmt: skip


def _runs(figures: pd.DataFrame) -> pd.DataFrame:
    """The paper's projector runs, with frames, how they were chosen, and epochs read from their
    names."""
    cells = _cells(figures)
    read = cells["model"].str.extract(RUN)
    swept = cells.assign(
        n=pd.to_numeric(read["n"]), epochs=pd.to_numeric(read["epochs"]),
        policy=read["uniform"].map(lambda word: "uniform" if isinstance(word, str) else "first"),
    )  # fmt: skip
    return swept[swept["n"].notna()]


def _matched(cells: pd.DataFrame, pattern: re.Pattern[str], group: str, mixed: str) -> pd.DataFrame:
    share = pd.to_numeric(cells["model"].str.extract(pattern)[group])
    return cells.assign(share=share, mixed=mixed)[share.notna()]


def _trust() -> alt.Color:
    scale = alt.Scale(domain=["A", "B", "C"], range=["#0072B2", "#E69F00", "#999999"])
    return alt.Color("trust:N", title="Trust", scale=scale, legend=alt.Legend(orient="top"))


def _tips() -> list[alt.Tooltip]:
    return [alt.Tooltip(name) for name in ("task:N", "setting:N", "value:Q")]

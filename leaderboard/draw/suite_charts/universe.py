"""UNIVERSE's charts: judges by task and format, what frames, epochs and mixtures do, how people
rate the best one."""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import pandas as pd

from leaderboard.draw.charts import COLOURS, NAMED
from leaderboard.draw.suite_charts import SuiteChart
from leaderboard.draw.suite_charts.universe_tables import (
    FORMATS,
    PAPER,
    by_recipe,
    exact_match,
    fullest_board,
    printed,
    printed_runs,
    whole_judges,
    with_share,
)

CLIPS = 32_453
"""Training clips of one epoch, as the paper says."""
MOST = 12
LEAST_HEIGHT = 130
"""Less, and the names of two tasks run into each other."""
OTHER_DATA = "Other data than ours: the paper's own clips."
TASK_MIX = re.compile(r"tasks mixed AR (?P<share>[\d.]+) CR")
FORMAT_MIX = re.compile(
    r"formats mixed binary (?P<binary>[\d.]+) MC (?P<mc>[\d.]+) OE (?P<oe>[\d.]+)"
)


def our_judges(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """The judges of one board of ours, in each task and format."""
    return _judges(fullest_board(exact_match(figures)), COLOURS[0])


def printed_judges(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """The judges that the paper prints, in each task and format."""
    return _judges(exact_match(printed(figures)), "#999999")


def _judges(cells: pd.DataFrame, colour: str) -> alt.TopLevelMixin | None:
    """Bars with error bars: the best judges; runs of one recipe are one bar."""
    judged = by_recipe(cells)
    whole = whole_judges(judged) if not judged.empty else judged
    if whole.empty:
        return None
    best = whole.groupby("key")["value"].mean().nlargest(MOST).index
    best_rows = whole[whole["key"].isin(best)]
    names = best_rows.drop_duplicates("key").set_index("key")["judge"]
    y = alt.Y(
        "judge:N",
        title=None,
        sort=[names[key] for key in best],
        axis=alt.Axis(labelLimit=460),
    )
    bars = (
        alt.Chart()
        .mark_bar(color=colour)
        .encode(x=alt.X("value:Q", title="Exact match, %"), y=y, tooltip=_tips())
    )
    ends = alt.Chart().mark_rule().encode(x="low:Q", x2="high:Q", y=y)
    return (
        alt.layer(bars, ends, data=best_rows)
        .properties(width=170, height=max(LEAST_HEIGHT, 22 * len(best)))
        .facet(
            row=alt.Row("task:N", header=NAMED),
            column=alt.Column("setting:N", header=NAMED, sort=FORMATS),
        )
    )


def frames_by_epochs(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """A map of exact match over frames seen and epochs trained, a format and task each."""
    runs = printed_runs(figures)
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
    runs = printed_runs(figures)
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
    """Dots over what the training questions were mixed of, one a run: shares of tasks, and of
    open-ended questions."""
    cells = exact_match(printed(figures))
    tasks = with_share(cells, TASK_MIX, "share", "share of action questions")
    formats = with_share(cells, FORMAT_MIX, "oe", "share of open-ended questions")
    mixed = pd.concat([tasks, formats])
    if mixed.empty:
        return None
    dots = (
        alt.Chart(mixed)
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("share:Q", title="Share in training"),
            y=alt.Y("value:Q", title="Exact match, %"),
            color=alt.Color(
                "setting:N", title="Format", sort=FORMATS, scale=alt.Scale(range=COLOURS)
            ),
            tooltip=[alt.Tooltip("model:N"), *_tips()],
        )
    )
    return _grid(
        dots,
        260,
        170,
        row=alt.Row("task:N", header=NAMED),
        column=alt.Column("mixed:N", title=None),
    )


def early_characters(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """How fast characters are learned within the first epochs, one frame seen."""
    runs = printed_runs(figures)
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
    above; a row for each judge."""
    people = _whose(figures[figures["evaluator"] == "human"])
    accuracies = people[people["metric"].isin(["graded_accuracy", "strict_accuracy"])]
    if accuracies.empty:
        return None
    by = ["whose", "scenario", "metric"]
    means = accuracies.groupby(by, as_index=False)["value"].mean()
    kappas = people[people["metric"] == "cohen_kappa"][[*by, "value"]]
    values = pd.concat([means, kappas[kappas["whose"].isin(means["whose"])]])
    base = alt.Chart().encode(x=alt.X("scenario:N", title=None))
    bars = (
        base.transform_filter("datum.metric != 'cohen_kappa'")
        .mark_bar()
        .encode(
            xOffset="metric:N",
            y=alt.Y("value:Q", title="Accuracy, %"),
            color=alt.Color("metric:N", title=None, scale=alt.Scale(range=COLOURS)),
            tooltip=["whose", "scenario", "value"],
        )
    )
    words = (
        base.transform_filter("datum.metric == 'cohen_kappa'")
        .mark_text(dy=-4)
        .encode(y=alt.datum(100), text=alt.Text("value:Q", format=".2f"))
    )
    layers = alt.layer(bars, words, data=values).properties(height=260)
    return layers.facet(row=alt.Row("whose:N", title=None))


def against_other_metrics(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """A map of Pearson's r between a judge's scores and other metrics of the same rollouts; a row
    for each judge."""
    correlations = _whose(figures[figures["metric"].str.startswith("pearson_")])
    if correlations.empty:
        return None
    base = alt.Chart().encode(x=alt.X("scenario:N", title=None), y=alt.Y("task:N", title=None))
    scale = alt.Scale(scheme="blueorange", domain=[-1, 1])
    cells = base.mark_rect().encode(color=alt.Color("value:Q", title="r", scale=scale))
    words = base.mark_text().encode(text=alt.Text("value:Q", format=".2f"))
    layers = alt.layer(cells, words, data=correlations).properties(height=120)
    return layers.facet(row=alt.Row("whose:N", title=None))


def efficiency(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Dots: clips trained on against exact match, one frame seen."""
    runs = printed_runs(figures)
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
        "our-judges",
        "Judges by task and format",
        f"The best {MOST} judges of one board that have every task and format; runs of one recipe "
        "are one bar. Lines: 95 % interval, or the spread over seeds.",
        our_judges,
    ),
    SuiteChart(
        "printed-judges",
        "Judges in the paper",
        f"{OTHER_DATA} The best {MOST} runs; they differ in what was tuned, frames and epochs, as "
        "their names say. Lines: the spread over seeds.",
        printed_judges,
    ),
    SuiteChart(
        "frames-by-epochs",
        "Frames and epochs",
        f"{OTHER_DATA} Projector only, first frames.",
        frames_by_epochs,
    ),
    SuiteChart(
        "first-or-uniform",
        "First or uniform frames",
        f"{OTHER_DATA} Projector only, one epoch.",
        first_or_uniform,
    ),
    SuiteChart(
        "mixtures",
        "What training was mixed of",
        f"{OTHER_DATA} One dot a run; nothing is averaged, and runs of other lengths stand apart.",
        mixtures,
    ),
    SuiteChart(
        "early-characters",
        "Characters in the first epochs",
        f"{OTHER_DATA} Projector, one frame.",
        early_characters,
    ),
    SuiteChart(
        "settings",
        "Eight settings, rated by people",
        "A row for each judge; the paper's is about its own rollouts. Graded counts a partly "
        "correct answer half. The number on top is the two raters' kappa.",
        settings_by_people,
    ),
    SuiteChart(
        "other-metrics",
        "Against FVD",
        "Pearson's r a setting and task, a row for each judge; near 0: FVD sees something else.",
        against_other_metrics,
    ),
    SuiteChart(
        "efficiency",
        "Clips trained on",
        f"{OTHER_DATA} Projector, one frame. Epochs of 32,453 clips.",
        efficiency,
    ),
)


def _grid(chart: Any, width: int, height: int, **by: Any) -> alt.TopLevelMixin:
    """The same chart for each value of a row and a column."""
    faceted: alt.TopLevelMixin = chart.properties(width=width, height=height).facet(**by)
    return faceted


def _whose(figures: pd.DataFrame) -> pd.DataFrame:
    """Rows with whose they are: nothing is averaged over judges, or over ours and a paper's."""
    paper = figures["trust"] == PAPER
    named = figures["model"].where(~paper, figures["model"] + " (the paper: other data)")
    return figures.assign(whose=named)


def _tips() -> list[alt.Tooltip]:
    return [alt.Tooltip(name) for name in ("task:N", "setting:N", "value:Q")]

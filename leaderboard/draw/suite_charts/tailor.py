"""TailOR's charts: the paper's seven figures, from our own board and, where it prints the numbers,
from the paper."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
import pandas as pd

from leaderboard.draw.charts import COLOURS
from leaderboard.draw.suite_charts import SuiteChart
from leaderboard.draw.suite_charts import tailor_tables as tables
from leaderboard.draw.words import plain
from leaderboard.queries.ranking import ALL

Chart = alt.TopLevelMixin | None
Layers = alt.LayerChart | alt.FacetChart
Draw = Callable[[pd.DataFrame], Chart]
BEST = alt.Scale(
    domain=["both", "judge", "people", ""], range=["#CC79A7", "#56B4E9", "#E69F00", "transparent"]
)
FULL = alt.Scale(domain=[0, 100])
FIXED = {"task": ALL}
"""All actions together: no chart here parts them."""


def grid(figures: pd.DataFrame) -> Chart:
    """F1: like Table 2, a cell a model, scenario and metric, judge and people in it, the best of
    each column marked."""
    rows = tables.grid(figures)
    if rows.empty:
        return None
    panels = [_panel(part, f"{plain(setting)}, {modality}") for (setting, modality), part in
              rows.groupby(["setting", "modality"], sort=False)]  # fmt: skip
    return alt.vconcat(*panels)


def _panel(rows: pd.DataFrame, title: str) -> Layers:
    order = [
        f"{plain(scenario)} · {plain(metric)}"
        for scenario in tables.SCENARIOS
        for metric in tables.METRICS
    ]
    # One word a line: slanted, most of the twelve heads would be left out for want of room.
    words = "split(replace(datum.label, ' · ', ' '), ' ')"
    axis = alt.Axis(
        labelExpr=words,
        labelAngle=0,
        labelOverlap=False,
        labelAlign="center",
        labelPadding=28,
        orient="top",
        labelFontSize=10,
    )
    column = alt.X("column:N", sort=order, title=None, axis=axis)
    base = alt.Chart(rows).encode(x=column, y=alt.Y("model:N", title=None))
    fill = alt.Color(
        "best:N",
        scale=BEST,
        title="Best by",
        legend=alt.Legend(orient="top", values=["judge", "people"]),
    )
    tips = [alt.Tooltip(name) for name in ("model:N", "column:N", "auto:Q", "human:Q")]
    marks = (
        base.mark_rect(opacity=0.45).encode(color=fill),
        base.mark_text().encode(text="shown:N", tooltip=tips),
    )
    return alt.layer(*marks).properties(title=title, width=alt.Step(78))


def degradation(figures: pd.DataFrame) -> Chart:
    """F2: one line a model over regular, unconventional and impossible; setting and evaluator can
    be chosen."""
    rows = tables.lines(figures)
    if rows.empty:
        return None
    setting = _choice("setting", "Setting ", ["predictive", "descriptive"])
    who = _choice("evaluator", "Judged by ", sorted(set(rows["evaluator"])))
    x = alt.X(
        "scenario:N",
        sort=tables.SCENARIOS,
        title=None,
        axis=alt.Axis(labelAngle=0),
        scale=alt.Scale(padding=0.3),
    )
    tips = [
        alt.Tooltip(name)
        for name in ("model:N", "scenario:N", "modality:N", "setting:N", "value:Q")
    ]
    drawn = (
        alt.Chart(rows)
        .mark_line(point=True)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=None),
            color=_models("model"),
            strokeDash=alt.StrokeDash("modality:N"),
            tooltip=tips,
        )
    )
    chosen = drawn.add_params(setting, who).transform_filter(setting).transform_filter(who)
    facet = alt.Facet("title:N", title=None, sort=[plain(metric) for metric in tables.METRICS])
    drawn = chosen.properties(width=260, height=180).facet(facet, columns=2)
    return _drawn(drawn.resolve_scale(y="independent"))


def settings(figures: pd.DataFrame) -> Chart:
    """F3: the index with the outcome told against the outcome left open, one panel a scenario, with
    the diagonal."""
    rows = tables.settings_against(figures)
    if rows.empty:
        return None
    x = alt.X("predictive:Q", scale=FULL, title="Outcome left open")
    y = alt.Y("descriptive:Q", scale=FULL, title="Outcome told")
    tips = [
        alt.Tooltip(name) for name in ("model:N", "evaluator:N", "predictive:Q", "descriptive:Q")
    ]
    points = alt.Chart(rows).mark_point(filled=True, size=80, opacity=1)
    points = points.encode(x=x, y=y, color=_models("model"), shape="evaluator:N", tooltip=tips)
    facet = alt.Facet("scenario:N", title=None, sort=tables.SCENARIOS)
    return _drawn(
        alt.layer(_diagonal(rows, 100), points).properties(width=240, height=240).facet(facet)
    )


def parts(figures: pd.DataFrame) -> Chart:
    """F4: the six parts of the rubric, outcome left open beside outcome told, pictures beside
    clips; by the questions that both settings ask."""
    rows = tables.parts(figures)
    if rows.empty:
        return None
    x = alt.X(
        "title:N",
        sort=[plain(part) for part in tables.PARTS],
        title=None,
        axis=alt.Axis(labelAngle=-30),
    )
    colour = alt.Color("setting:N", scale=alt.Scale(range=COLOURS[:2]), title="Setting")
    bars = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=x,
            xOffset="setting:N",
            y=alt.Y("value:Q", scale=FULL, title="Questions met, %"),
            color=colour,
            tooltip=["title:N", "setting:N", "modality:N", alt.Tooltip("value:Q", format=".1f")],
        )
    )
    return _drawn(bars.properties(width=340, height=220).facet(alt.Facet("modality:N", title=None)))


def failures(figures: pd.DataFrame) -> Chart:
    """F5: what went wrong in weak outputs, as shares a model, one panel a modality and scenario."""
    return _modes(figures, "scenario", tables.SCENARIOS)


def failures_by_setting(figures: pd.DataFrame) -> Chart:
    """F5 by setting: the same, one panel a modality and setting."""
    return _modes(figures, "setting", ["predictive", "descriptive"])


def _modes(figures: pd.DataFrame, across: str, order: list[str]) -> Chart:
    rows = tables.modes(figures)
    if rows.empty:
        return None
    bars = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            y=alt.Y("model:N", title=None),
            x=alt.X("sum(n_scored):Q", stack="normalize", title="Share of weak outputs"),
            color=alt.Color("mode:N", scale=alt.Scale(range=COLOURS), title="Worst fault"),
            tooltip=["model:N", "mode:N", alt.Tooltip("sum(n_scored):Q", title="Outputs")],
        )
    )
    columns = alt.Column(f"{across}:N", title=None, sort=order)
    return _drawn(
        bars.properties(width=220).facet(row=alt.Row("modality:N", title=None), column=columns)
    )


def bank(_figures: pd.DataFrame) -> Chart:
    """F6: how many tasks of the bank there are for each action, indoors and outdoors."""
    return bank_of(tables.items())


def bank_of(items: pd.DataFrame) -> Chart:
    """The same from any table of actions, places, environments and numbers of tasks."""
    colour = alt.Color("place:N", scale=alt.Scale(range=COLOURS[:2]), title="Place")
    x = alt.X("tasks:Q", title="Tasks", axis=alt.Axis(tickMinStep=1))
    tips = [alt.Tooltip(name) for name in ("action:N", "environment:N", "place:N", "tasks:Q")]
    bars = alt.Chart(items).mark_bar(stroke="white")
    y = alt.Y("action:N", title=None)
    return _drawn(bars.encode(y=y, x=x, color=colour, detail="environment:N", tooltip=tips))


def agreement(figures: pd.DataFrame) -> Chart:
    """F7: the judge against people, one point a cell, one panel a metric, with the correlation over
    its name."""
    rows = tables.judge_and_people(figures)
    if rows.empty:
        return None
    return alt.hconcat(
        *(_agreement(rows[rows["metric"] == metric], metric) for metric in tables.METRICS)
    )


def _agreement(rows: pd.DataFrame, metric: str) -> Layers:
    highest = 100 / tables.SCALES[metric]
    scale = alt.Scale(domain=[0, highest])
    r = rows["auto"].corr(rows["human"])
    points = (
        alt.Chart(rows)
        .mark_point(filled=True, size=50)
        .encode(
            x=alt.X("human:Q", scale=scale, title="People"),
            y=alt.Y("auto:Q", scale=scale, title="Judge"),
            color=_models("model"),
            tooltip=["model:N", "column:N", "setting:N", "auto:Q", "human:Q"],
        )
    )
    higher = (rows["human"] - rows["auto"]).mean()
    title = f"{plain(metric)}, r = {r:.3f}, people {higher:+.1f}"
    return alt.layer(_diagonal(rows, highest), points).properties(
        width=200, height=200, title=title
    )


def _diagonal(rows: pd.DataFrame, highest: float) -> alt.Chart:
    """The line of equal values, drawn from the same rows so that it can be repeated in facets."""
    base = alt.Chart(rows).transform_calculate(zero="0", most=str(highest))
    drawn = base.mark_rule(strokeDash=[4, 4], color="#888888", strokeWidth=1)
    line: alt.Chart = drawn.encode(x="zero:Q", y="zero:Q", x2="most:Q", y2="most:Q")
    return line


def _drawn(chart: alt.TopLevelMixin) -> Chart:
    """The chart with its type, which altair's own methods lose."""
    return chart


def _choice(column: str, name: str, options: list[str]) -> alt.Parameter:
    menu = alt.binding_select(options=options, name=name)
    return alt.selection_point(
        fields=[column], bind=menu, value=options[0], name=f"chosen_{column}"
    )


def _models(column: str) -> alt.Color:
    return alt.Color(f"{column}:N", scale=alt.Scale(range=COLOURS), title="Model")


def _of(
    pick: Callable[[pd.DataFrame], pd.DataFrame], draw: Callable[[pd.DataFrame], Chart]
) -> Callable[[pd.DataFrame], Chart]:
    return lambda figures: draw(pick(figures))


def _both(name: str, title: str, reads: str, draw: Draw) -> tuple[SuiteChart, ...]:
    return (
        SuiteChart(name, title, f"{reads} Our own board.", _of(tables.ours, draw)),
        SuiteChart(
            f"{name}-paper",
            f"{title}, as printed",
            f"{reads} The paper's Table 2.",
            _of(tables.papers, draw),
        ),
    )


CHARTS: tuple[SuiteChart, ...] = (
    *_both("grid", "Every cell", "Judge / people; the best of a column is coloured.", grid),
    *_both(
        "degradation",
        "From the usual to the impossible",
        "One line a model; choose a setting.",
        degradation,
    ),
    *_both(
        "settings",
        "Outcome told or left open",
        "Above the diagonal: telling helps. Axes: our index, by the questions both settings ask.",
        settings,
    ),
    SuiteChart(
        "parts",
        "Parts of the rubric",
        "Mean over models of our own board, by the questions that both settings ask. Scored "
        "without these (scorer 2), attribute fidelity has no bar: descriptive prompts ask more.",
        _of(tables.ours, parts),
    ),
    SuiteChart(
        "failures",
        "What went wrong",
        "The worst fault of each weak output.",
        _of(tables.ours, failures),
    ),
    SuiteChart(
        "failures-setting",
        "What went wrong, by setting",
        "The worst fault of each weak output.",
        _of(tables.ours, failures_by_setting),
    ),
    SuiteChart(
        "bank",
        "Actions and places",
        "Each piece of a bar is one kind of place in the open bank.",
        bank,
    ),
    *_both("agreement", "Judge and people", "On the diagonal they agree.", agreement),
)

"""Charts as pure functions: a table in, an Altair chart out. Colours are Okabe and Ito's, told
apart by everyone."""

from __future__ import annotations

import io

import altair as alt
import pandas as pd

TRUST = alt.Scale(domain=["A", "B", "C"], range=["#0072B2", "#E69F00", "#999999"])
BY = alt.Scale(domain=["auto", "human"], range=["circle", "diamond"])
SIGNS = alt.Legend(orient="top", symbolFillColor="#888888", symbolStrokeColor="#888888")
DAYS = alt.Axis(format="%Y-%m-%d", tickCount="day", labelOverlap=True, ticks=False, grid=False)
NAMED = alt.Header(
    title=None,
    labelExpr="(datum.label) == '*' ? 'all' : join(split((datum.label), '_'), ' ')",
)
"""The heads of panels, as a reader would write them. Vega-Lite puts an expression of its own in
the place of `datum.label`, which falls apart without the brackets."""
MOST_ROWS = 40
ROW = 26


def interval_dots(
    points: pd.DataFrame, title: str, digits: int, whole: float
) -> alt.LayerChart | alt.FacetChart:
    """One dot a model with its interval, best on top; `whole`, the metric's range, keeps small
    differences small."""
    top_points = points.head(MOST_ROWS)
    y = alt.Y(
        "label:N",
        sort=list(top_points["label"]),
        title=None,
        axis=alt.Axis(labelLimit=260, labelOverlap=False),
    )
    scale = alt.Scale(domain=domain(top_points, whole), nice=False, zero=False)
    trust = alt.Color(
        "trust:N",
        scale=TRUST,
        title="Trust",
        legend=alt.Legend(orient="top", values=sorted(set(top_points["trust"]))),
    )
    by = alt.Shape("by:N", scale=BY, title="Judged by", legend=SIGNS)
    dots = alt.Chart(top_points).mark_point(filled=True, size=90, opacity=1)
    bars = alt.Chart(top_points.dropna(subset=["low", "high"])).mark_rule(
        strokeWidth=2, opacity=0.7
    )
    spans = bars.encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q", y=y, color=trust)
    x = alt.X("value:Q", title=title, scale=scale)
    return alt.layer(
        spans, dots.encode(x=x, y=y, color=trust, shape=by, tooltip=_tips(digits))
    ).properties(height=alt.Step(ROW))


def domain(points: pd.DataFrame, whole: float) -> list[float]:
    """From the lowest to the highest, and never less than a tenth of the metric's range."""
    ends = points[["value", "low", "high"]]
    low, high = float(ends.min().min()), float(ends.max().max())
    margin = max(0.08 * (high - low), (0.1 * abs(whole) - (high - low)) / 2, 1e-6)
    return [low - margin, high + margin]


def _tips(digits: int) -> list[alt.Tooltip]:
    number = f".{digits}f"
    return [
        alt.Tooltip("model:N", title="Model"),
        alt.Tooltip("value:Q", title="Value", format=number),
        alt.Tooltip("low:Q", title="From", format=number),
        alt.Tooltip("high:Q", title="To", format=number),
        alt.Tooltip("by:N", title="Judged by"),
        alt.Tooltip("trust:N", title="Trust"),
        alt.Tooltip("n:N", title="n/N"),
    ]


COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D31", "#666666"]
LINES = [*COLOURS, "#332288", "#117733", "#882255", "#DDCC77"]
"""Four more, of Tol's, where many entries share a chart."""


def profile(points: pd.DataFrame, title: str) -> alt.LayerChart | alt.FacetChart:
    """One metric of one entry along a facet: dots with intervals."""
    at = alt.Y("at:N", title=None, sort=None, axis=alt.Axis(labelLimit=140))
    base = alt.Chart(points)
    spans = base.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", y=at
    )
    tips = [
        alt.Tooltip(key)
        for key in ("metric:N", "at:N", "value:Q", "low:Q", "high:Q", "n:N", "by:N")
    ]
    dots = base.mark_point(filled=True, size=80, opacity=1, color=COLOURS[0])
    return alt.layer(
        spans, dots.encode(x=alt.X("value:Q", title=title), y=at, tooltip=tips)
    ).properties(height=alt.Step(ROW))


def slopes(
    points: pd.DataFrame, title: str, digits: int, whole: float
) -> alt.LayerChart | alt.FacetChart:
    """One line an entry across the values of a facet: how far it falls."""
    at = alt.X(
        "at:N",
        sort=list(dict.fromkeys(points["at"])),
        title=None,
        axis=alt.Axis(labelAngle=0),
        scale=alt.Scale(paddingInner=0.75, paddingOuter=0.4),
    )
    # Side by side, or one entry's interval would hide the next one's.
    beside = alt.XOffset("run:N", sort=None)
    names = list(dict.fromkeys(points["model"]))
    colour = alt.Color(
        "model:N",
        title="Model",
        scale=alt.Scale(domain=names, range=LINES),
        legend=alt.Legend(
            labelLimit=300, values=names[: len(LINES)], orient="bottom", columns=1, symbolOpacity=1
        ),
    )
    dash = alt.StrokeDash(
        "by:N",
        title="Judged by",
        scale=alt.Scale(domain=["auto", "human"], range=[[1, 0], [5, 4]]),
        legend=None,
    )
    scale = (
        alt.Scale(domain=domain(points, whole), nice=False, zero=False)
        if len(points)
        else alt.Undefined
    )
    value = alt.Y("value:Q", title=title, scale=scale)
    tips = [
        alt.Tooltip("who:N", title="Entry"),
        alt.Tooltip("at:N", title="At"),
        alt.Tooltip("value:Q", format=f".{digits}f"),
    ]
    base = alt.Chart(points).encode(x=at, xOffset=beside, color=colour, detail="run:N")
    spans = (
        alt.Chart(points.dropna(subset=["low", "high"]))
        .mark_rule(opacity=0.5)
        .encode(
            x=at,
            xOffset=beside,
            y=alt.Y("low:Q", title=title, scale=scale),
            y2="high:Q",
            color=colour,
        )
    )
    lines = base.mark_line(strokeWidth=2).encode(y=value, strokeDash=dash)
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(y=value, tooltip=tips)
    # The legend stands inside of the height, a line a name.
    height = 400 + 22 * min(len(names), len(LINES))
    return alt.layer(spans, lines, dots).properties(height=height)


def history(points: pd.DataFrame, title: str) -> alt.LayerChart | alt.FacetChart:
    """An entry's value over time, with intervals, one line a judge."""
    base = alt.Chart(points).encode(
        x=alt.X("at:T", title=None, axis=DAYS),
        color=alt.Color("judge:N", title="Judge", scale=alt.Scale(range=COLOURS)),
    )
    value = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False))
    spans = base.mark_rule().encode(y="low:Q", y2="high:Q")
    return alt.layer(
        spans, base.mark_line(point=True).encode(y=value, tooltip=["judge:N", "at:T", "value:Q"])
    ).properties(height=260)


def differences(points: pd.DataFrame, title: str) -> alt.LayerChart | alt.FacetChart:
    """Paired differences with their intervals and a line at none; a pair's name stands above it:
    phones are narrow."""
    y = alt.Y("pair:N", title=None, sort=None, axis=None)
    x = alt.X("low:Q", title=title, axis=alt.Axis(format="~g"))
    spans = (
        alt.Chart(points).mark_rule(strokeWidth=2, color=COLOURS[0]).encode(x=x, x2="high:Q", y=y)
    )
    dots = (
        alt.Chart(points)
        .mark_point(filled=True, size=80, opacity=1, color=COLOURS[0])
        .encode(x="mean:Q", y=y, tooltip=["pair:N", "mean:Q", "p:Q"])
    )
    names = _above(points).encode(y=y, text="pair:N")
    none = (
        alt.Chart(pd.DataFrame({"x": [0.0]}))
        .mark_rule(strokeDash=[4, 4], color="#888888")
        .encode(x="x:Q")
    )
    return alt.layer(none, spans, dots, names).properties(height=alt.Step(46))


def tallies(points: pd.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """Wins, ties and losses by scenario, as shares; the pairs below each other, each under its
    name."""
    order = ["won", "tied", "lost"]
    rows = points.assign(row=points["pair"] + "\n" + points["scenario"])
    pairs = list(dict.fromkeys(points["pair"]))
    places = [
        row
        for pair in pairs
        for row in (pair, *dict.fromkeys(rows.loc[rows["pair"] == pair, "row"]))
    ]
    axis = alt.Axis(
        labelLimit=160, labelExpr="split(datum.label, '\\n')[1] || ''", ticks=False, domain=False
    )
    y = alt.Y("row:N", title=None, sort=places, scale=alt.Scale(domain=places), axis=axis)
    colour = alt.Color(
        "result:N",
        sort=order,
        scale=alt.Scale(domain=order, range=["#0072B2", "#BBBBBB", "#E69F00"]),
        title=None,
        legend=alt.Legend(orient="top"),
    )
    bars = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("count:Q", stack="normalize", title="Share of samples"),
            y=y,
            color=colour,
            order=alt.Order("rank:Q"),
            tooltip=["pair:N", "scenario:N", "result:N", "count:Q"],
        )
    )
    names = _above(pd.DataFrame({"row": pairs}), dy=4).encode(y=y, text="row:N")
    return alt.layer(bars, names).properties(height=alt.Step(24))


def _above(points: pd.DataFrame, dy: int = -13) -> alt.Chart:
    """Names at the left edge, in a grey that is read on light and on dark."""
    labels: alt.Chart = alt.Chart(points).mark_text(align="left", dy=dy, color="#808495", limit=330)
    return labels.encode(x=alt.value(0))


def drift(points: pd.DataFrame) -> alt.LayerChart | alt.FacetChart:
    """How a judge agrees with itself and with anchors, night by night; a diamond is a night that
    raised an alarm."""
    base = alt.Chart(points).encode(
        x=alt.X("night:T", title=None, axis=DAYS),
        color=alt.Color("what:N", title=None, scale=alt.Scale(range=COLOURS)),
    )
    value = alt.Y(
        "agreement:Q", title="equal answers", scale=alt.Scale(zero=False), axis=alt.Axis(format="%")
    )
    tips = [
        "suite:N",
        "what:N",
        "night:T",
        alt.Tooltip("agreement:Q", format=".1%"),
        "questions:Q",
        "text:N",
    ]
    spans = base.mark_rule(opacity=0.6).encode(y="low:Q", y2="high:Q")
    legend_style = alt.Legend(
        labelExpr="datum.label == 'true' ? 'yes' : 'no'", symbolFillColor="#888888"
    )
    scale = alt.Scale(domain=[False, True], range=["circle", "diamond"])
    shape = alt.Shape("alarm:N", title="Alarm", scale=scale, legend=legend_style)
    lines = base.mark_line().encode(y=value, detail="suite:N")
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        y=value, shape=shape, tooltip=tips
    )
    return alt.layer(spans, lines, dots).properties(height=260)


def heat(
    points: pd.DataFrame, title: str, digits: int, best_is_high: bool
) -> alt.LayerChart | alt.FacetChart:
    """Two facets at once: one coloured field each, with its figure in it; darker is better."""
    across = alt.X(
        "across:N",
        title=None,
        sort=list(dict.fromkeys(points["across"])),
        axis=alt.Axis(labelAngle=0),
    )
    down = alt.Y(
        "down:N",
        title=None,
        sort=list(dict.fromkeys(points["down"])),
        axis=alt.Axis(labelLimit=180),
    )
    scale = alt.Scale(scheme="blues", reverse=not best_is_high)
    number = f".{digits}f"
    tips = [
        alt.Tooltip("down:N"),
        alt.Tooltip("across:N"),
        alt.Tooltip("value:Q", format=number),
        "n:N",
    ]
    colour = alt.Color(
        "value:Q", title=title, scale=scale, legend=alt.Legend(orient="top", format=number)
    )
    fields = alt.Chart(points).mark_rect().encode(x=across, y=down, color=colour, tooltip=tips)
    words = (
        alt.Chart(points)
        .mark_text()
        .encode(
            x=across,
            y=down,
            text=alt.Text("value:Q", format=number),
            color=alt.condition(
                _on_dark(points, best_is_high), alt.value("white"), alt.value("black")
            ),
        )
    )
    return alt.layer(fields, words).properties(height=alt.Step(34))


def _on_dark(points: pd.DataFrame, best_is_high: bool) -> str:
    middle = (points["value"].min() + points["value"].max()) / 2
    return f"datum.value {'>' if best_is_high else '<'} {middle}"


def dressed(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    """A chart in the board's colours, with room for long names."""
    styled: alt.TopLevelMixin = chart.configure_range(category=COLOURS).configure_axis(
        labelLimit=240
    )
    return styled


def as_svg(chart: alt.TopLevelMixin) -> bytes:
    """A chart as SVG, for papers."""
    file = io.StringIO()
    chart.save(file, format="svg")
    return file.getvalue().encode()


def as_png(chart: alt.TopLevelMixin) -> bytes:
    """A chart as PNG, twice the size on the page."""
    file = io.BytesIO()
    chart.save(file, format="png", scale_factor=2)
    return file.getvalue()

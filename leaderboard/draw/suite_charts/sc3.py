"""SC3-Eval's charts: predicted against real rates, how rollouts end, what stopping costs and wins,
PSNR, ablations."""

from __future__ import annotations

import altair as alt
import pandas as pd

from leaderboard.draw.charts import LINES
from leaderboard.draw.suite_charts import SuiteChart
from leaderboard.draw.suite_charts.sc3_variants import shades, variants
from leaderboard.draw.words import name, plain

CATEGORIES = {
    "reproduction_language_following_failure": "wrong object",
    "reproduction_object_lifting_failure": "not lifted",
    "reproduction_object_placing_failure": "not placed",
    "reproduction_no_failure": "success",
    "reproduction_average": "average",
}
SWEEP = {"pearson_r": "Pearson r", "mmrv": "MMRV", "termination_rate": "stopped"}
AGREEMENT = {"pearson_r": "r", "mmrv": "MMRV"}
EVERY, POOLED = "*", "pooled"
EACH_NAMED = alt.Axis(labelOverlap=False, labelFlush=False)
MOST_NAMED = 6
"""So many evaluators have their r and MMRV in the title of a panel."""
PRINTED = " (paper)"


def scatter(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """A point a policy and criterion, a panel a mode and split; on the line both rates are the
    same."""
    chosen = fullest_runs(figures)
    points = _points(chosen)
    if points.empty:
        return None
    panels = [
        _panel(part).properties(title=panel_title(chosen, str(scenario), str(setting)))
        for (setting, scenario), part in points.groupby(["setting", "scenario"])
    ]
    chart: alt.TopLevelMixin = alt.concat(*panels, columns=2)
    return chart


def panel_title(figures: pd.DataFrame, scenario: str, setting: str) -> alt.TitleParams:
    """The split and mode, and under it r and MMRV of each evaluator that has points there, best r
    first."""
    panel = figures[
        (figures["scenario"] == scenario)
        & (figures["setting"] == setting)
        & (figures["task"] == POOLED)
    ]
    ours = panel[panel["metric"].isin(AGREEMENT) & (panel["trust"] != "C")]
    wide = ours.pivot_table(index="model", columns="metric", values="value").reindex(
        columns=list(AGREEMENT)
    )
    lines = [
        f"{name(str(model), 26)}: r {_three(r)}, MMRV {_three(violation)}"
        for model, r, violation in wide.sort_values("pearson_r", ascending=False).itertuples()
    ]
    remainder = [f"and {len(lines) - MOST_NAMED} more"] if len(lines) > MOST_NAMED else []
    title = f"{plain(scenario)}, {setting}"
    return alt.TitleParams(
        title, subtitle=[*lines[:MOST_NAMED], *remainder], anchor="start", subtitleColor="#808495"
    )


def _three(value: float) -> str:
    return "none" if pd.isna(value) else f"{value:.3f}"


def _panel(points: pd.DataFrame) -> alt.LayerChart | alt.FacetChart:
    rates = alt.Scale(domain=[0, 1])
    named = alt.Legend(orient="bottom", columns=2, labelLimit=200, symbolOpacity=1)
    marks = (
        alt.Chart(points)
        .mark_point(filled=True, size=60, opacity=0.7)
        .encode(
            x=alt.X("real_rate:Q", title="Real success rate", scale=rates),
            y=alt.Y("predicted_rate:Q", title="Predicted", scale=rates),
            color=alt.Color(
                "model:N", title="Evaluator", scale=alt.Scale(range=LINES), legend=named
            ),
            shape=alt.Shape(
                "criterion:N", title="Criterion", legend=alt.Legend(orient="bottom", columns=1)
            ),
            tooltip=["model", "policy", "criterion", "real_rate", "predicted_rate"],
        )
    )
    ends = {"x": alt.datum(0), "y": alt.datum(0), "x2": alt.datum(1), "y2": alt.datum(1)}
    line = alt.Chart(pd.DataFrame([{}])).mark_rule(strokeDash=[4, 4], color="grey").encode(**ends)
    return alt.layer(line, marks).properties(width=230, height=230)


def correlations(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Pooled r beside r within criterion: what is left when the criteria's own means are taken
    off."""
    chosen = fullest_runs(figures)
    chosen = chosen[
        chosen["metric"].isin(["pearson_r", "pearson_r_within"]) & (chosen["task"] == POOLED)
    ]
    chosen = chosen[chosen["value"].notna()]
    if chosen.empty:
        return None
    labels = chosen["metric"].map({"pearson_r": "pooled", "pearson_r_within": "within criterion"})
    best = alt.EncodingSortField("value", op="max", order="descending")
    dots = (
        alt.Chart(_marked(chosen).assign(metric=labels, split=_splits(chosen)))
        .mark_point(size=55, strokeWidth=2, opacity=1)
        .encode(
            y=alt.Y("model:N", title=None, sort=best, axis=EACH_NAMED),
            x=alt.X("value:Q", title="Pearson r", scale=alt.Scale(domain=[-1, 1])),
            color=alt.Color("metric:N", title=None, legend=alt.Legend(orient="top")),
            shape=alt.Shape("metric:N", title=None),
            tooltip=["model", "metric", "setting", "split", "value", "low", "high"],
        )
        .properties(width=220, height=alt.Step(17))
    )
    panels = {"column": alt.Column("setting:N", title=None), "row": alt.Row("split:N", title=None)}
    chart: alt.TopLevelMixin = dots.facet(**panels).resolve_scale(y="independent")
    return chart


def reproduction(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """How often a rollout ends as the real one does, by how that ends."""
    chosen = fullest_runs(figures)
    chosen = chosen[
        chosen["metric"].isin(CATEGORIES) & (chosen["scenario"] == EVERY) & chosen["value"].notna()
    ]
    if chosen.empty:
        return None
    chosen = _marked(chosen)
    means = chosen[chosen["metric"] == "reproduction_average"].groupby("model")["value"].max()
    order = list(means.sort_values(ascending=False).index)
    bars = (
        alt.Chart(chosen.assign(category=chosen["metric"].map(CATEGORIES)))
        .mark_bar()
        .encode(
            x=alt.X(
                "value:Q",
                title=None,
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(values=[0, 0.5, 1]),
            ),
            y=alt.Y("model:N", title=None, sort=order, axis=EACH_NAMED),
            color=alt.Color("setting:N", title=None, legend=None),
            tooltip=["model", "category", "setting", "value"],
        )
        .properties(width=95, height=alt.Step(17))
    )
    columns = alt.Column("category:N", title=None, sort=list(CATEGORIES.values()))
    chart: alt.TopLevelMixin = bars.facet(column=columns, row=alt.Row("setting:N", title=None))
    return chart


def tau_sweep(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """What a stricter threshold does to r, MMRV and the share of rollouts stopped."""
    named = swept(figures)
    if named.empty:
        return None
    chart: alt.TopLevelMixin = (
        alt.Chart(named)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "tau:N",
                title="tau",
                sort=["inf", "0.05", "0.02", "0.01"],
                axis=alt.Axis(labelAngle=0),
            ),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
            color=alt.Color("split:N", title="Split"),
            tooltip=["model", "tau", "what", "split", "value"],
        )
        .properties(width=220, height=200)
        .facet(column=alt.Column("what:N", title=None, sort=list(SWEEP.values())))
        .resolve_scale(y="independent")
    )
    return chart


def swept(figures: pd.DataFrame) -> pd.DataFrame:
    """The figures whose note names a threshold: a point a metric, split and tau."""
    taus = figures["note"].fillna("").str.extract(r"tau = (inf|\d+(?:\.\d+)?)")[0]
    named = figures.assign(tau=taus)[taus.notna() & figures["metric"].isin(SWEEP)]
    return named.assign(what=named["metric"].map(SWEEP), split=_splits(named))


def _splits(figures: pd.DataFrame) -> pd.Series:
    return figures["scenario"].replace(EVERY, "both splits").str.replace("_", " ")


def decibels(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """PSNR of offline rollouts, in and out of distribution."""
    chosen = fullest_runs(figures)
    chosen = chosen[
        (chosen["metric"] == "psnr") & (chosen["scenario"] != EVERY) & chosen["value"].notna()
    ]
    if chosen.empty:
        return None
    chart: alt.TopLevelMixin = (
        alt.Chart(chosen.assign(split=_splits(chosen)))
        .mark_bar()
        .encode(
            y=alt.Y("model:N", title=None, sort="-x", axis=EACH_NAMED),
            x=alt.X("value:Q", title="PSNR (dB)"),
            yOffset="split:N",
            color=alt.Color("split:N", title="Split", legend=alt.Legend(orient="top")),
            tooltip=["model", "split", "value"],
        )
        .properties(width=420, height=alt.Step(24, **{"for": "position"}))
    )
    return chart


def ablations(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """The whole model and the model without one of its parts, as a table of numbers; darker is
    better."""
    table = ablation_table(figures)
    if table.empty:
        return None
    order = list(dict.fromkeys(table["model"]))
    columns = [f"{mode}, {words}" for mode in ("offline", "online") for words in AGREEMENT.values()]
    heads = alt.Axis(
        labelAngle=0,
        orient="top",
        labelExpr="split(datum.label, ', ')",
        labelOverlap=False,
        labelFlush=False,
    )
    grid = alt.Chart(table).encode(
        x=alt.X("cell:N", title=None, sort=columns, axis=heads),
        y=alt.Y("model:N", title=None, sort=order, axis=EACH_NAMED),
        tooltip=["model", "setting", "metric", "value", "source"],
    )
    shade = grid.mark_rect().encode(
        color=alt.Color("shade:Q", legend=None, scale=alt.Scale(scheme="blues", domain=[0, 1]))
    )
    ink = alt.condition("datum.shade > 0.5", alt.value("white"), alt.value("black"))
    return alt.layer(
        shade, grid.mark_text().encode(text=alt.Text("value:Q", format=".3f"), color=ink)
    ).properties(width=420, height=alt.Step(30))


def ablation_table(figures: pd.DataFrame) -> pd.DataFrame:
    """r and MMRV over both splits of every model that has variants, each shaded among its own
    metric's values."""
    chosen = fullest_runs(figures)
    pooled = chosen[
        (chosen["scenario"] == EVERY) & (chosen["task"] == POOLED) & chosen["value"].notna()
    ]
    table = variants(pooled[pooled["metric"].isin(AGREEMENT)])
    cells = table["setting"] + ", " + table["metric"].map(AGREEMENT)
    return table.assign(cell=cells, shade=shades(table)).reset_index(drop=True)


def fullest_runs(figures: pd.DataFrame) -> pd.DataFrame:
    """Of a model that stands on several boards the run with the most samples: bars of two would be
    piled up."""
    named = figures.assign(model=_distinct_names(figures))
    samples = named.groupby("run_id")["n_expected"].transform("max").fillna(0)
    runs = named.assign(samples=samples).sort_values("samples", kind="stable")
    run_ids = runs.drop_duplicates(["model", "evaluator"], keep="last")["run_id"]
    return named[named["run_id"].isin(run_ids)]


def _distinct_names(figures: pd.DataFrame) -> pd.Series:
    """Models by their names; what people rated here, and what a paper prints of a model that is
    here too, says so."""
    printed = figures["trust"] == "C"
    rated = (figures["evaluator"] == "human") & ~printed
    twice = printed & figures["model"].isin(figures["model"][~printed])
    named = figures["model"].mask(rated, figures["model"] + " (people)")
    return named.mask(twice, figures["model"] + PRINTED)


def _marked(figures: pd.DataFrame) -> pd.DataFrame:
    """Every method that a paper prints by a name that says so: it was run on other data."""
    bare = (figures["trust"] == "C") & ~figures["model"].str.endswith(PRINTED)
    return figures.assign(model=figures["model"].mask(bare, figures["model"] + PRINTED))


def _points(figures: pd.DataFrame) -> pd.DataFrame:
    chosen = figures[figures["metric"].isin(["predicted_rate", "real_rate"])]
    if chosen.empty:
        return pd.DataFrame()
    keys = ["model", "run_id", "scenario", "task", "setting"]
    wide = chosen.pivot_table(index=keys, columns="metric", values="value").reset_index()
    named = wide["task"].str.split(" ", n=1, expand=True)
    return wide.assign(policy=named[0].map(plain), criterion=named[1].map(plain))


CHARTS = (
    SuiteChart(
        "sc3-scatter",
        "Predicted against real success rates",
        "A point is one policy and criterion. On the "
        "dashed line the world model says what happened on the (simulated) table. The "
        "paper's methods have no "
        "points here: it prints none of their predicted rates.",
        scatter,
    ),
    SuiteChart(
        "sc3-correlations",
        "Pooled r and r within criterion",
        "An evaluator that knows only how hard each "
        "criterion is has a good pooled r and no r within criterion. The paper prints real "
        "rates but no "
        "predicted ones, so its methods have neither an r within criterion nor points to "
        "scatter; what a mean "
        "of each criterion reaches on its real rates is computed. (paper): another table, real "
        "robots and the paper's own annotators.",
        correlations,
    ),
    SuiteChart(
        "sc3-reproduction",
        "How rollouts end",
        "Of the real rollouts that end so, the share whose rollout in "
        "the world model ends the same way. (paper): another table, real robots and the paper's "
        "own annotators.",
        reproduction,
    ),
    SuiteChart(
        "sc3-tau",
        "Stopping early: the threshold tau",
        "Left never stops; further right, more rollouts are "
        "stopped when recovered actions stray from commanded ones. These are the paper's, "
        "which chose 0.02; an "
        "entry is rolled out once, with its own tau. A sweep of this project's small model "
        "is printed by "
        "`python -m tests.bench.sc3`.",
        tau_sweep,
    ),
    SuiteChart(
        "sc3-psnr",
        "PSNR of offline rollouts",
        "Higher is closer to the real frames, which is not the same as telling policies apart.",
        decibels,
    ),
    SuiteChart(
        "sc3-ablations",
        "What each part brings",
        "The whole model above its variants with one part left "
        "out; r higher, MMRV lower is better, and darker is better among the variants of a "
        "model.",
        ablations,
    ),
)

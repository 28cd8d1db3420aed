"""SC3-Eval's charts: predicted against real rates, how rollouts end, what stopping costs and wins, PSNR, ablations."""

from __future__ import annotations

import altair as alt
import pandas as pd

from leaderboard.charts import NAMED
from leaderboard.suite_charts import SuiteChart

CATEGORIES = {
    "reproduction_language_following_failure": "wrong object",
    "reproduction_object_lifting_failure": "not lifted",
    "reproduction_object_placing_failure": "not placed",
    "reproduction_no_failure": "success",
    "reproduction_average": "average",
}
SWEEP = {"pearson_r": "Pearson r", "mmrv": "MMRV", "termination_rate": "stopped"}
EVERY, POOLED = "*", "pooled"


def scatter(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """A point a policy and criterion, a panel a mode and split; on the line both rates are the same."""
    points = _points(figures)
    if points.empty:
        return None
    rates = alt.Scale(domain=[0, 1])
    marks = (
        alt.Chart()
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("real_rate:Q", title="Real success rate", scale=rates),
            y=alt.Y("predicted_rate:Q", title="Predicted", scale=rates),
            color=alt.Color("model:N", title="Evaluator"),
            shape=alt.Shape("criterion:N", title="Criterion"),
            tooltip=["model", "policy", "criterion", "real_rate", "predicted_rate"],
        )
    )
    line = (
        alt.Chart()
        .transform_filter("datum.first")
        .mark_rule(strokeDash=[4, 4], color="grey")
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )
    return alt.layer(line, marks, data=points).properties(width=230, height=230).facet(
        row=alt.Row("setting:N", title=None), column=alt.Column("scenario:N", header=NAMED)
    )  # fmt: skip


def correlations(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """Pooled r beside r within criterion: what is left when the criteria's own means are taken off."""
    chosen = figures[figures["metric"].isin(["pearson_r", "pearson_r_within"]) & (figures["task"] == POOLED)]
    chosen = chosen[chosen["value"].notna()]
    if chosen.empty:
        return None
    made: alt.TopLevelMixin = (
        alt.Chart(chosen.assign(metric=chosen["metric"].map({"pearson_r": "pooled", "pearson_r_within": "within"})))
        .mark_bar()
        .encode(
            y=alt.Y("model:N", title=None, sort="-x"),
            x=alt.X("value:Q", title="Pearson r", scale=alt.Scale(domain=[-1, 1])),
            yOffset="metric:N",
            color=alt.Color("metric:N", title="r"),
            tooltip=["model", "metric", "setting", "scenario", "value", "low", "high"],
        )
        .properties(width=260)
        .facet(column=alt.Column("setting:N", title=None), row=alt.Row("scenario:N", header=NAMED))
        .resolve_scale(y="independent")
    )
    return made


def reproduction(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """How often a rollout ends as the real one does, by how that ends."""
    chosen = figures[figures["metric"].isin(CATEGORIES) & (figures["scenario"] == EVERY) & figures["value"].notna()]
    if chosen.empty:
        return None
    made: alt.TopLevelMixin = (
        alt.Chart(chosen.assign(category=chosen["metric"].map(CATEGORIES)))
        .mark_bar()
        .encode(
            x=alt.X("category:N", title=None, sort=list(CATEGORIES.values())),
            y=alt.Y("value:Q", title="Reproduced", scale=alt.Scale(domain=[0, 1])),
            xOffset="model:N",
            color=alt.Color("model:N", title="Evaluator"),
            tooltip=["model", "category", "setting", "value"],
        )
        .properties(width=320, height=240)
        .facet(column=alt.Column("setting:N", title=None))
    )
    return made


def tau_sweep(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """What a stricter threshold does to r, MMRV and the share of rollouts stopped."""
    taus = figures["note"].fillna("").str.extract(r"tau = ([\d.]+|inf)")[0]
    named = figures.assign(tau=taus)[taus.notna() & figures["metric"].isin(SWEEP)]
    if named.empty:
        return None
    named = named.assign(what=named["metric"].map(SWEEP), split=named["scenario"].replace(EVERY, "both splits"))
    made: alt.TopLevelMixin = (
        alt.Chart(named)
        .mark_line(point=True)
        .encode(
            x=alt.X("tau:N", title="tau", sort=["inf", "0.05", "0.02", "0.01"]),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
            color=alt.Color("split:N", title="Split"),
            tooltip=["model", "tau", "what", "split", "value"],
        )
        .properties(width=220, height=200)
        .facet(column=alt.Column("what:N", title=None))
        .resolve_scale(y="independent")
    )
    return made


def decibels(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """PSNR of offline rollouts, in and out of distribution."""
    chosen = figures[(figures["metric"] == "psnr") & (figures["scenario"] != EVERY) & figures["value"].notna()]
    if chosen.empty:
        return None
    made: alt.TopLevelMixin = (
        alt.Chart(chosen)
        .mark_bar()
        .encode(
            y=alt.Y("model:N", title=None, sort="-x"),
            x=alt.X("value:Q", title="PSNR (dB)"),
            yOffset="scenario:N",
            color=alt.Color("scenario:N", title="Split"),
            tooltip=["model", "scenario", "value"],
        )
        .properties(width=420)
    )
    return made


def ablations(figures: pd.DataFrame) -> alt.TopLevelMixin | None:
    """The whole model and the model without one of its parts, as a table of numbers on a shade."""
    chosen = figures[(figures["scenario"] == EVERY) & (figures["task"] == POOLED) & figures["value"].notna()]
    chosen = chosen[chosen["metric"].isin(["pearson_r", "mmrv"]) & _is_variant(chosen["model"])]
    if chosen.empty:
        return None
    labelled = chosen.assign(cell=chosen["setting"] + ", " + chosen["metric"].map(SWEEP))
    grid = alt.Chart(labelled).encode(x=alt.X("cell:N", title=None), y=alt.Y("model:N", title=None))
    shade = grid.mark_rect().encode(color=alt.Color("value:Q", legend=None, scale=alt.Scale(scheme="blues")))
    numbers = grid.mark_text().encode(text=alt.Text("value:Q", format=".3f"))
    return alt.layer(shade, numbers).properties(width=420)


def _is_variant(models: pd.Series) -> pd.Series:
    whole = models[models.str.contains(" without ")].str.split(" without ").str[0]
    return models.str.contains(" without ") | models.isin(set(whole))


def _points(figures: pd.DataFrame) -> pd.DataFrame:
    chosen = figures[figures["metric"].isin(["predicted_rate", "real_rate"])]
    if chosen.empty:
        return pd.DataFrame()
    keys = ["model", "run_id", "scenario", "task", "setting"]
    wide = chosen.pivot_table(index=keys, columns="metric", values="value").reset_index()
    named = wide["task"].str.split(" ", n=1, expand=True)
    first = ~wide.duplicated(["scenario", "setting"])
    return wide.assign(policy=named[0], criterion=named[1], first=first)


CHARTS = (
    SuiteChart("sc3-scatter", "Predicted against real success rates", "A point is one policy and criterion. On the "
               "dashed line the world model says what happened on the (simulated) table.", scatter),
    SuiteChart("sc3-correlations", "Pooled r and r within criterion", "An evaluator that knows only how hard each "
               "criterion is has a good pooled r and no r within criterion.", correlations),
    SuiteChart("sc3-reproduction", "How rollouts end", "Of the real rollouts that end so, the share whose rollout in "
               "the world model ends the same way.", reproduction),
    SuiteChart("sc3-tau", "Stopping early: the threshold tau", "Left never stops; further right, more rollouts are "
               "stopped when recovered actions stray from commanded ones.", tau_sweep),
    SuiteChart("sc3-psnr", "PSNR of offline rollouts", "Higher is closer to the real frames, which is not the same as "
               "telling policies apart.", decibels),
    SuiteChart("sc3-ablations", "What each part brings", "The whole model above its variants with one part left "
               "out; r higher, MMRV lower is better.", ablations),
)  # fmt: skip

"""L-IVA's charts: scores by scene and loop, best against worst, subgoals in order, attempts, and
how cases ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import altair as alt
import pandas as pd

from leaderboard.draw.suite_charts import SuiteChart

Chart: TypeAlias = alt.TopLevelMixin
ALL = "*"
SCORES = {
    "afs": "Action fidelity",
    "tsr": "Task success",
    "pps": "Plausibility",
    "bws": "Best-worst",
}
TRIES = {
    "first_try": "first try",
    "second_try": "second try",
    "third_try": "third try",
    "gave_up": "gave up",
}
ENDS = {
    "completed": "completed",
    "end_failed_after_retries": "retries used up",
    "end_max_steps": "steps used up",
    "end_generator_error": "video model broke",
    "end_agent": "ended by the agent",
}
SIGNS = {
    "false_accept": "accepted from few frames, rejected from all",
    "vanished": "a thing gone or new",
}
TAGS = {
    "tag_temporal_information_loss": ("glitch passed over", "seeing"),
    "tag_no_3d_awareness": ("out of reach", "seeing"),
    "tag_weak_instruction_following": ("another action", "filming"),
    "tag_object_permanence_or_hallucination": ("gone or from nowhere", "filming"),
}
"""What people mark as gone wrong, and whose weakness it is: the agent's eyes or the video model."""
SUBGOAL = "subgoal_"
WHOLE_NAMES = alt.Legend(labelLimit=480, orient="top", direction="vertical")
"""Methods differ at the end of their names: what loop they were run in."""
FIXED = {"task": ALL, "modality": ALL}


def by_scene(figures: pd.DataFrame) -> Chart | None:
    """Each score by scene family, one bar a method."""
    rows = _chosen(figures, SCORES, scenario=True)
    if rows.empty:
        return None
    bars = alt.Chart(rows).encode(
        x=alt.X("scenario:N", title=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("method:N"),
        color=alt.Color("method:N", title="Method", legend=WHOLE_NAMES),
        tooltip=["method", "scenario", "what", alt.Tooltip("value:Q", format=".3f"), "n_scored"],
    )
    value = bars.mark_bar().encode(y=alt.Y("value:Q", title=None))
    whisker = bars.mark_rule(color="#888888").encode(y="low:Q", y2="high:Q")
    drawn: Chart = (
        alt.layer(value, whisker)
        .properties(height=180, width=alt.Step(48))
        .facet(row=alt.Row("what:N", title=None))
        .resolve_scale(y="independent")
    )
    return drawn


def best_worst(figures: pd.DataFrame) -> Chart | None:
    """Best-worst scores, to the right of zero when chosen best more often than worst."""
    rows = _chosen(figures, {"bws": SCORES["bws"]})
    if rows.empty:
        return None
    better = alt.condition(alt.datum.value >= 0, alt.value("#3b7dd8"), alt.value("#d8593b"))
    bars = alt.Chart(rows).encode(y=alt.Y("method:N", title=None, sort="-x"))
    limits = alt.Scale(domain=[-100, 100])
    value = bars.mark_bar().encode(
        x=alt.X("value:Q", title="Best-worst score", scale=limits), color=better
    )
    drawn: Chart = value + bars.mark_rule(color="#888888").encode(x="low:Q", x2="high:Q")
    return drawn


def subgoals(figures: pd.DataFrame) -> Chart | None:
    """The share of people who tick each subgoal, by its place in the list."""
    names = [name for name in figures["metric"].unique() if str(name).startswith(SUBGOAL)]
    rows = _chosen(figures, {name: name.removeprefix(SUBGOAL) for name in names})
    if rows.empty:
        return None
    rows = rows.assign(position=rows["what"].astype(int))
    drawn: Chart = (
        alt.Chart(rows)
        .mark_line(point=True)
        .encode(
            x=alt.X("position:O", title="Subgoal"),
            y=alt.Y("value:Q", title="Ticked", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("method:N", title="Method", legend=WHOLE_NAMES),
            tooltip=["method", "position", alt.Tooltip("value:Q", format=".2f"), "n_scored"],
        )
    )
    return drawn


def attempts(figures: pd.DataFrame) -> Chart | None:
    """How many clips a step took."""
    return _stacked(_chosen(figures, TRIES), list(TRIES.values()), "Share of steps")


def endings(figures: pd.DataFrame) -> Chart | None:
    """How cases ended."""
    return _stacked(_chosen(figures, ENDS), list(ENDS.values()), "Share of cases")


def signs(figures: pd.DataFrame) -> Chart | None:
    """Signs of failures that a person should look at."""
    rows = _chosen(figures, SIGNS)
    if rows.empty:
        return None
    drawn: Chart = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title="Share", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("method:N", title=None),
            yOffset=alt.YOffset("what:N"),
            color=alt.Color("what:N", title="Sign"),
            tooltip=["method", "what", alt.Tooltip("value:Q", format=".2f"), "n_scored"],
        )
    )
    return drawn


def failures(figures: pd.DataFrame) -> Chart | None:
    """What people saw go wrong, by whose weakness it is: the agent's seeing or the model's
    filming."""
    rows = _chosen(figures, {name: words for name, (words, _) in TAGS.items()})
    if rows.empty:
        return None
    sides = dict(TAGS.values())
    drawn: Chart = (
        alt.Chart(rows.assign(side=rows["what"].map(sides)))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title="Share of videos", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("what:N", title=None, sort=[words for words, _ in TAGS.values()]),
            yOffset=alt.YOffset("method:N"),
            color=alt.Color("method:N", title="Method", legend=WHOLE_NAMES),
            row=alt.Row("side:N", title=None, sort=["seeing", "filming"]),
            tooltip=["method", "side", "what", alt.Tooltip("value:Q", format=".2f"), "n_scored"],
        )
        .resolve_scale(y="independent")
    )
    return drawn


def _chosen(
    figures: pd.DataFrame, named: Mapping[str, str], *, scenario: bool = False
) -> pd.DataFrame:
    """The rows with these metrics in one loop each, over all cases or scene by scene."""
    at = (figures["task"] == ALL) & (figures["modality"] == ALL) & (figures["setting"] != ALL)
    at &= (figures["scenario"] != ALL) if scenario else (figures["scenario"] == ALL)
    rows = figures[at & figures["metric"].isin(list(named)) & figures["value"].notna()]
    return rows.assign(
        what=rows["metric"].map(dict(named)),
        method=rows["model"].astype(str) + ", " + rows["setting"].astype(str).str.replace("_", " "),
    )


def _stacked(rows: pd.DataFrame, order: Sequence[str], title: str) -> Chart | None:
    if rows.empty:
        return None
    place = {name: number for number, name in enumerate(order)}
    drawn: Chart = (
        alt.Chart(rows.assign(place=rows["what"].map(place)))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=title, stack="zero"),
            y=alt.Y("method:N", title=None),
            color=alt.Color("what:N", title=None, sort=list(order)),
            order="place:Q",
            tooltip=["method", "what", alt.Tooltip("value:Q", format=".2f"), "n_scored"],
        )
    )
    return drawn


CHARTS = (
    SuiteChart(
        "scenes",
        "Scores by scene",
        "One bar a method, with its 95 % interval where there is one.",
        by_scene,
    ),
    SuiteChart(
        "best_worst",
        "Best against worst",
        "Right of zero: chosen best more often than worst.",
        best_worst,
    ),
    SuiteChart(
        "subgoals",
        "How far people see the job done",
        "A line that falls early fails early.",
        subgoals,
    ),
    SuiteChart(
        "attempts",
        "Attempts a step",
        "Short first parts: the video model has to be asked again.",
        attempts,
    ),
    SuiteChart(
        "endings", "How cases end", "Only for models that were run inside the agent here.", endings
    ),
    SuiteChart(
        "signs",
        "Signs of failure",
        "Suspicions from traces and from a second look at every frame, to be looked at by people.",
        signs,
    ),
    SuiteChart(
        "failures",
        "What people saw go wrong",
        "By whose weakness it is: the agent's seeing or the video model's filming.",
        failures,
    ),
)

"""The tables behind TailOR's charts: figures in, one row a mark out."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from importlib.resources import files

import pandas as pd

from leaderboard.draw.words import plain
from leaderboard.queries.failures import PREFIX
from leaderboard.queries.ranking import ALL

SCENARIOS = ["regular", "unconventional", "impossible"]
METRICS = [
    "instruction_adherence",
    "interaction_accuracy",
    "physical_realism",
    "perceptual_quality",
]
SCALES = dict(zip(METRICS, (1, 1, 20, 20), strict=True))
"""What brings each metric to 0 to 100: ratings go from 0 to 5."""
PARTS = ["entity_completeness", "attribute_fidelity", "scene_validity", "state_change_correctness",
         "affordance_grounding", "motion_plausibility"]  # fmt: skip
SHARED = {"shared_attribute_fidelity": "attribute_fidelity"}
"""What stands for a part where settings are compared: the one part in which a prompt asks details
that the other setting's does not."""
PLACE = ["model", "evaluator", "scenario", "setting", "modality"]
ITEMS = files(__package__) / "tailor_items.csv"


def papers(figures: pd.DataFrame) -> pd.DataFrame:
    """What the paper prints."""
    return figures[figures["trust"] == "C"]


def ours(figures: pd.DataFrame) -> pd.DataFrame:
    """The fullest board of our own, for figures of two boards are not comparable; and beside it
    what people say of the same models, from the study that rated most of them."""
    own = figures[figures["trust"] != "C"]
    judged = own[own["evaluator"] != "human"]
    if judged.empty:
        return _fullest(own)
    board = _fullest(judged)
    people = own[(own["evaluator"] == "human") & own["model"].isin(board["model"])]
    return pd.concat([board, _fullest(people)], ignore_index=True) if len(people) else board


def _fullest(figures: pd.DataFrame) -> pd.DataFrame:
    """The figures of the board with most runs."""
    if figures.empty:
        return figures
    return figures[figures["board"] == figures.groupby("board")["run_id"].nunique().idxmax()]


def cells(figures: pd.DataFrame) -> pd.DataFrame:
    """The cells of Table 2: one scenario, one setting, one modality, all actions together."""
    single = (
        (figures["scenario"] != ALL) & (figures["setting"] != ALL) & (figures["modality"] != ALL)
    )
    return figures[single & (figures["task"] == ALL) & figures["value"].notna()]


def grid(figures: pd.DataFrame) -> pd.DataFrame:
    """One row a model, scenario and metric: the judge's and the people's value, and which is its
    column's best."""
    chosen = cells(figures)
    chosen = chosen[chosen["metric"].isin(METRICS)]
    keys = ["setting", "modality", "model", "scenario", "metric"]
    wide = chosen.pivot_table(
        index=keys, columns="evaluator", values="value", sort=False
    ).reset_index()
    for who in ("auto", "human"):
        wide[who] = wide[who] if who in wide else float("nan")
        wide[f"best_{who}"] = wide[who] == wide.groupby(
            ["setting", "modality", "scenario", "metric"]
        )[who].transform("max")
    wide["shown"] = [_pair(row.auto, row.human, row.metric) for row in wide.itertuples()]
    wide["column"] = wide["scenario"].map(plain) + " · " + wide["metric"].map(plain)
    wide["best"] = [_best(row.best_auto, row.best_human) for row in wide.itertuples()]
    return wide


def lines(figures: pd.DataFrame) -> pd.DataFrame:
    """One row a model, setting, scenario and metric, for the lines from the usual to the
    impossible."""
    table2 = cells(figures)
    headline = table2[table2["metric"].isin(METRICS)].copy()
    headline["title"] = headline["metric"].map(plain)
    return headline[[*PLACE, "metric", "title", "value"]]


def index(figures: pd.DataFrame) -> pd.DataFrame:
    """The mean of the four metrics on one scale, where all four are there; ours, not the
    paper's."""
    headline = lines(figures)
    scaled = headline.assign(value=headline["value"] * headline["metric"].map(SCALES).astype(float))
    whole = scaled.groupby(PLACE, sort=False)["value"].agg(["mean", "count"]).reset_index()
    return (
        whole[whole["count"] == len(METRICS)]
        .rename(columns={"mean": "value"})
        .drop(columns="count")
    )


def settings_against(figures: pd.DataFrame) -> pd.DataFrame:
    """One row a model and scenario: its index with the outcome left open, and with the outcome
    told; by the questions that both settings ask, where the figures have that."""
    keys = ["model", "evaluator", "scenario", "modality"]
    table2 = cells(figures)
    shared = table2[table2["metric"] == "shared_index"]
    wide = (
        (shared if len(shared) else index(figures))
        .pivot_table(index=keys, columns="setting", values="value", sort=False)
        .reset_index()
    )
    both = {"predictive", "descriptive"} <= set(wide.columns)
    return wide.dropna(subset=["predictive", "descriptive"]) if both else wide.iloc[:0]


def parts(figures: pd.DataFrame) -> pd.DataFrame:
    """The six parts of the rubric, averaged over models and scenarios, by the questions that both
    settings ask; a part of which a board does not have these is left out."""
    table2 = cells(figures)
    compared = [part for part in PARTS if part not in SHARED.values()] + list(SHARED)
    judged = table2[table2["metric"].isin(compared) & (table2["evaluator"] == "auto")]
    judged = judged.assign(metric=judged["metric"].replace(SHARED))
    keys = ["metric", "setting", "modality"]
    mean = judged.groupby(keys, sort=False)["value"].mean().reset_index()
    return mean.assign(title=mean["metric"].map(plain))


def modes(figures: pd.DataFrame) -> pd.DataFrame:
    """How many weak outputs have which worst fault."""
    table2 = cells(figures)
    weak = table2[table2["metric"].str.startswith(PREFIX)].copy()
    weak["mode"] = weak["metric"].str.removeprefix(PREFIX).map(plain)
    return weak[["model", "scenario", "setting", "modality", "mode", "n_scored"]]


def judge_and_people(figures: pd.DataFrame) -> pd.DataFrame:
    """One row a cell that both a judge and people have values for."""
    wide = grid(figures)
    both = wide.dropna(subset=["auto", "human"])
    return both.assign(title=both["metric"].map(plain))


def items() -> pd.DataFrame:
    """How many tasks of the open bank there are for each action and place."""
    with ITEMS.open("r", encoding="utf-8") as file:
        return pd.read_csv(file)


def printed(value: float, metric: str) -> str:
    """A value as the paper prints it: percents whole, ratings with one digit, halves rounded up.

    >>> printed(37.5, "interaction_accuracy"), printed(2.4499999999999997, "physical_realism")
    ('38%', '2.5')
    """
    # Nine decimals first, so that rounding in a mean does not turn a half into less.
    nearby = Decimal(f"{value:.9f}")
    if SCALES[metric] == 1:
        return f"{nearby.quantize(Decimal(1), ROUND_HALF_UP)}%"
    return str(nearby.quantize(Decimal("0.1"), ROUND_HALF_UP))


def _pair(auto: float, human: float, metric: str) -> str:
    return " / ".join("—" if pd.isna(value) else printed(value, metric) for value in (auto, human))


def _best(auto: bool, human: bool) -> str:
    return {(True, True): "both", (True, False): "judge", (False, True): "people"}.get(
        (bool(auto), bool(human)), ""
    )

"""What the SC3-Eval paper prints: Tables 1, 2, 4, 5 and 6 as rows with an address, and the real success rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import correlation, fmean

from evaluators.contracts import ALL, Facets, Fact, Published
from evaluators.suites.figures import join_notes, one_per_address, read_facts, read_table

PAPER = "SC3-Eval (arXiv 2606.18610)"
OURS = "SC3-Eval"
POOLED = "pooled"
ALL_POINTS = "All 21 points, both splits together."
BOTH_SPLITS = "Both splits together."

TAU_MODELS = {
    "inf": f"{OURS} without early termination",
    "0.05": f"{OURS}, tau 0.05",
    "0.02": OURS,
    "0.01": f"{OURS}, tau 0.01",
}
"""0.02 is the paper's own choice; no threshold is the ablation of Table 2 by another name."""


@dataclass(frozen=True, slots=True)
class RealRate:
    """How often a policy met a criterion on the real robot."""

    policy: int
    family: str
    split: str
    criterion: str
    rate: float


def published() -> tuple[Published, ...]:
    """Every figure of a world model; r, MMRV and reproduction rest on human labels, the rest is measured."""
    return one_per_address((*_table1(), *_table2(), *_table4(), *_table5(), *_table6()))


def facts() -> tuple[Fact, ...]:
    """Sizes, horizons and training settings of the paper."""
    return read_facts("sc3")


def real_success_rates() -> tuple[RealRate, ...]:
    """Table 3: the truth an evaluator is compared with, one point for each policy and criterion."""
    return tuple(
        RealRate(
            policy=int(row["policy_id"]),
            family=row["task_family"],
            split=row["split"],
            criterion=row["criterion"],
            rate=float(row["real_success_rate"]),
        )
        for row in read_table("sc3", "table3")
    )


def criterion_mean_r(rates: Sequence[RealRate]) -> float:
    """Pooled r of a fake evaluator that gives every policy the mean real rate of the criterion.

    It cannot tell two policies apart, so this much of a pooled r is owed to the criteria alone.
    """
    means = {name: fmean(r.rate for r in rates if r.criterion == name) for name in {r.criterion for r in rates}}
    return correlation([means[r.criterion] for r in rates], [r.rate for r in rates])


def _table1() -> Iterator[Published]:
    for row in read_table("sc3", "table1"):
        facets = Facets(row["split"], POOLED, row["mode"], "video")
        yield _labelled(row["method"], row["metric"], facets, row["value"], table=1)


def _table2() -> Iterator[Published]:
    for row in read_table("sc3", "table2"):
        facets = Facets(ALL, POOLED, row["mode"], "video")
        yield _labelled(_variant(row["variant"]), row["metric"], facets, row["value"], table=2, note=ALL_POINTS)


def _table4() -> Iterator[Published]:
    for row in read_table("sc3", "table4"):
        facets = Facets(row["split"], ALL, row["mode"], "video")
        yield Published(
            _variant(row["method"]), row["metric"], facets, "auto", float(row["value_db"]), None, _source(4)
        )


def _table5() -> Iterator[Published]:
    for row in read_table("sc3", "table5"):
        model, note = TAU_MODELS[row["tau"]], f"Threshold tau = {row['tau']}."
        if row["metric"] == "termination_rate_percent":
            yield _termination_rate(model, row["value"], note)
        else:
            facets = Facets(row["split"], POOLED, "online", "video")
            yield _labelled(model, row["metric"], facets, row["value"], table=5, note=note)


def _table6() -> Iterator[Published]:
    for row in read_table("sc3", "table6"):
        facets = Facets(ALL, ALL, row["mode"], "video")
        metric = f"reproduction_{row['category']}"
        yield _labelled(row["method"], metric, facets, row["reproduction_rate"], table=6, note=BOTH_SPLITS)


def _labelled(model: str, metric: str, facets: Facets, value: str, *, table: int, note: str = "") -> Published:
    return Published(model, metric, facets, "human", float(value), None, _source(table), note)


def _termination_rate(model: str, percent: str, note: str) -> Published:
    return Published(
        model=model,
        metric="termination_rate",
        facets=Facets(ALL, ALL, "online", "video"),
        evaluator="auto",
        value=float(Decimal(percent) / 100),
        spread=None,
        source=_source(5),
        note=join_notes(note, f"Printed as {percent} %.", BOTH_SPLITS),
    )


def _variant(printed: str) -> str:
    if printed == "Full model":
        return OURS
    return printed.replace("w/o", f"{OURS} without")


def _source(table: int) -> str:
    return f"{PAPER}, Table {table}"

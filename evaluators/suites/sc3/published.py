"""What the SC3-Eval paper prints: its tables as rows with an address, and what follows from its
real success rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import correlation, fmean

from evaluators.contracts import ALL, Facets, Fact, Published
from evaluators.metrics.ranking import mmrv
from evaluators.suites.figures import join_notes, one_per_address, read_facts, read_table

PAPER = "SC3-Eval (arXiv 2606.18610)"
OURS = "SC3-Eval"
POOLED = "pooled"
ALL_POINTS = "All 21 points, both splits together."
BOTH_SPLITS = "Both splits together."
CRITERION_MEAN = "Criterion mean (computed)"
KNOWS_NO_POLICY = (
    "Computed from the real rates of Table 3, not printed: an evaluator that gives every policy "
    "the mean of the "
    "criterion. It has no r within criterion, since it cannot tell two policies apart."
)

TAU_MODELS = {
    "inf": f"{OURS} without early termination",
    "0.05": f"{OURS}, tau 0.05",
    "0.02": OURS,
    "0.01": f"{OURS}, tau 0.01",
}
"""0.02 is the paper's own choice; no threshold is the ablation of Table 2 by another name."""
OWN_TAU = next(tau for tau, model in TAU_MODELS.items() if model == OURS)


@dataclass(frozen=True, slots=True)
class RealRate:
    """How often a policy met a criterion on the real robot."""

    policy: int
    family: str
    split: str
    criterion: str
    rate: float


def published() -> tuple[Published, ...]:
    """Every figure of a world model; r, MMRV and reproduction rest on human labels, the rest is
    measured."""
    return one_per_address(
        (*_table1(), *_table2(), *_table4(), *_table5(), *_table6(), *_criterion_mean())
    )


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


def criterion_means(rates: Sequence[RealRate]) -> list[float]:
    """What an evaluator predicts that knows how hard each criterion is and nothing of any
    policy."""
    return [
        fmean(peer.rate for peer in rates if peer.criterion == real_rate.criterion)
        for real_rate in rates
    ]


def criterion_mean_r(rates: Sequence[RealRate]) -> float:
    """So much of a pooled r is owed to the criteria alone; without scipy, as a metric's text is
    made at import."""
    return correlation(criterion_means(rates), [real_rate.rate for real_rate in rates])


def _table1() -> Iterator[Published]:
    for row in read_table("sc3", "table1"):
        facets = Facets(row["split"], POOLED, row["mode"], "video")
        stops = row["method"] == OURS and row["mode"] == "online"
        note = _threshold(OWN_TAU) if stops else ""
        yield _labelled(row["method"], row["metric"], facets, row["value"], table=1, note=note)


def _table2() -> Iterator[Published]:
    for row in read_table("sc3", "table2"):
        facets = Facets(ALL, POOLED, row["mode"], "video")
        yield _labelled(
            _variant(row["variant"]), row["metric"], facets, row["value"], table=2, note=ALL_POINTS
        )


def _table4() -> Iterator[Published]:
    for row in read_table("sc3", "table4"):
        facets = Facets(row["split"], ALL, row["mode"], "video")
        yield Published(
            _variant(row["method"]),
            row["metric"],
            facets,
            "auto",
            float(row["value_db"]),
            None,
            _source(4),
        )


def _table5() -> Iterator[Published]:
    for row in read_table("sc3", "table5"):
        model, note = TAU_MODELS[row["tau"]], _threshold(row["tau"])
        if row["metric"] == "termination_rate_percent":
            yield _termination_rate(model, row["value"], note)
        else:
            facets = Facets(row["split"], POOLED, "online", "video")
            yield _labelled(model, row["metric"], facets, row["value"], table=5, note=note)


def _table6() -> Iterator[Published]:
    for row in read_table("sc3", "table6"):
        facets = Facets(ALL, ALL, row["mode"], "video")
        metric = f"reproduction_{row['category']}"
        yield _labelled(
            row["method"], metric, facets, row["reproduction_rate"], table=6, note=BOTH_SPLITS
        )


def _criterion_mean() -> Iterator[Published]:
    """What Table 3 alone allows: no predicted rate of any method is printed."""
    real_rates = real_success_rates()
    for split in (ALL, *dict.fromkeys(real_rate.split for real_rate in real_rates)):
        rates = [real_rate for real_rate in real_rates if split in (ALL, real_rate.split)]
        real, means = [real_rate.rate for real_rate in rates], criterion_means(rates)
        values_by_metric = {
            "pearson_r": criterion_mean_r(rates),
            "mmrv": mmrv(sim=means, real=real),
        }
        for mode in ("offline", "online"):
            facets = Facets(split, POOLED, mode, "video")
            yield from (
                Published(
                    CRITERION_MEAN,
                    metric,
                    facets,
                    "human",
                    value,
                    None,
                    _source(3),
                    KNOWS_NO_POLICY,
                )
                for metric, value in values_by_metric.items()
                if value is not None
            )


def _labelled(
    model: str, metric: str, facets: Facets, value: str, *, table: int, note: str = ""
) -> Published:
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


def _threshold(tau: str) -> str:
    return f"Threshold tau = {tau}."


def _source(table: int) -> str:
    return f"{PAPER}, Table {table}"

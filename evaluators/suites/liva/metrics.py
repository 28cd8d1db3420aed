"""The numbers of the L-IVA suite: what each means, how it is made, and which way is better."""

from __future__ import annotations

from evaluators.contracts import Metric

CASE_ERROR = "A judgment that marks the case itself as faulty is left out for every video shown. "
HIGHER = "Higher is better."

METRICS: tuple[Metric, ...] = (
    Metric(
        name="tsr",
        title="Task success rate",
        unit="rate",
        direction="higher",
        worst=0,
        best=1,
        explain=(
            "Subgoals that people tick as done / subgoals of the case, averaged over raters within a case and then "
            "over cases. A subgoal reached with a severe defect is not ticked. A missing or unreadable video counts "
            f"0; a case nobody rated leaves the mean and is counted. {CASE_ERROR}{HIGHER}"
        ),
        headline=True,
    ),
    Metric(
        name="afs",
        title="Action fidelity score",
        unit="rate",
        direction="higher",
        worst=0,
        best=1,
        explain=(
            "The share of accepted clips in which the judge sees the planned action: right verb, right objects, "
            "roughly the right place and direction. Every clip weighs alike. A missing or unreadable clip counts 0; "
            f"a clip whose verdict could not be read leaves the mean and is counted. {HIGHER}"
        ),
        headline=True,
    ),
    Metric(
        name="pps",
        title="Physical plausibility score",
        unit="rating_1_5",
        direction="higher",
        worst=1,
        best=5,
        explain=(
            "A rating from 1 (physics breaks down) to 5 (gravity, contact and collision look real), averaged over "
            "raters within a video and then over videos. A missing or unreadable video counts 1; an unrated one "
            f"leaves the mean and is counted. {CASE_ERROR}{HIGHER}"
        ),
        headline=True,
    ),
    Metric(
        name="bws",
        title="Best-worst score",
        unit="points",
        direction="higher",
        worst=-100,
        best=100,
        explain=(
            "100 x (times chosen best - times chosen worst) / judgments that showed the method. Each judgment counts "
            "once, and methods shown in every set add up to 0, so the score is relative to the company kept. No "
            f"judgments, no value. {CASE_ERROR}{HIGHER}"
        ),
        headline=True,
    ),
)

"""The numbers of the L-IVA suite: what each means, how it is made, and which way is better."""

from __future__ import annotations

from evaluators.contracts import Metric

CASE_ERROR = "A judgment that marks the case itself as faulty is left out for every video shown. "
HIGHER = "Higher is better."
LOWER = "Lower is better."
MOST_SUBGOALS = 8
RUN_HERE = "Averaged over cases; only for models that were run inside the agent here."


FAILURE_WORDS: dict[str, tuple[str, str]] = {
    "temporal_information_loss": (
        "Tagged: glitch passed over",
        "something jumps, flickers or melts for a moment, and the video goes on as if nothing had "
        "happened.",
    ),
    "no_3d_awareness": (
        "Tagged: out of reach",
        "something in the background or out of reach is handled as if it were at hand.",
    ),
    "weak_instruction_following": (
        "Tagged: another action",
        "what is done is not what the step asks for, or nothing is done.",
    ),
    "object_permanence_or_hallucination": (
        "Tagged: gone or from nowhere",
        "a thing vanishes, or one appears from nowhere.",
    ),
}
"""The four kinds of failure in words for people."""


def _rate(name: str, title: str, explain: str, *, good: bool) -> Metric:
    """A share that says how the loop went; only where we ran it."""
    ends = (0, 1) if good else (1, 0)
    text = f"{explain} {RUN_HERE} {HIGHER if good else LOWER}"
    return Metric(name, title, "rate", "higher" if good else "lower", *ends, text)


FIDELITY = Metric(
    name="afs",
    title="Action fidelity score",
    unit="rate",
    direction="higher",
    worst=0,
    best=1,
    explain=(
        "The share of accepted clips in which the judge sees the planned action: right verb, right "
        "objects, "
        "roughly the right place and direction. Every clip weighs alike. A case without a video "
        "counts as the most "
        "clips it could have had, all 0; a clip whose verdict could not be read leaves the mean "
        "and is counted. "
        f"{HIGHER}"
    ),
    headline=True,
)
BEST_WORST = Metric(
    name="bws",
    title="Best-worst score",
    unit="points",
    direction="higher",
    worst=-100,
    best=100,
    explain=(
        "100 x (times chosen best - times chosen worst) / judgments that showed the method. Each "
        "judgment counts "
        "once, and methods shown in every set add up to 0, so the score is relative to the company "
        "kept. A "
        f"missing video counts as chosen worst; no judgments, no value. {CASE_ERROR}{HIGHER}"
    ),
    headline=True,
)
BY_PEOPLE: tuple[Metric, ...] = (
    Metric(
        name="tsr",
        title="Task success rate",
        unit="rate",
        direction="higher",
        worst=0,
        best=1,
        explain=(
            "Subgoals that people tick as done / subgoals of the case, averaged over raters within "
            "a case and then "
            "over cases. A subgoal reached with a severe defect is not ticked. A missing or "
            "unreadable video counts "
            f"0; a case nobody rated leaves the mean and is counted. {CASE_ERROR}{HIGHER}"
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
            "A rating from 1 (physics breaks down) to 5 (gravity, contact and collision look "
            "real), averaged over "
            "raters within a video and then over videos. A missing or unreadable video counts 1; "
            "an unrated one "
            f"leaves the mean and is counted. {CASE_ERROR}{HIGHER}"
        ),
        headline=True,
    ),
    BEST_WORST,
)
"""What only a study with people can tell."""

LOOP: tuple[Metric, ...] = (
    _rate("completed", "Runs completed", "Cases that the agent itself calls done.", good=True),
    Metric(
        name="attempts",
        title="Attempts a step",
        unit="count",
        direction="lower",
        worst=3,
        best=1,
        explain="Clips filmed for each step, the rejected ones too, averaged within a case. "
        f"{RUN_HERE} {LOWER}",
    ),
    _rate("first_try", "First try", "The share of steps whose first clip was accepted.", good=True),
    _rate(
        "second_try", "Second try", "The share of steps whose second clip was accepted.", good=False
    ),
    _rate(
        "third_try",
        "Third try",
        "The share of steps that needed a third clip and had it accepted.",
        good=False,
    ),
    _rate("gave_up", "Gave up", "The share of steps without an accepted clip.", good=False),
    _rate(
        "end_failed_after_retries",
        "Ended: retries",
        "Cases that ended with every retry rejected.",
        good=False,
    ),
    _rate(
        "end_max_steps",
        "Ended: steps",
        "Cases that used up their steps before the job was done.",
        good=False,
    ),
    _rate(
        "end_generator_error",
        "Ended: generator",
        "Cases in which the video model broke down.",
        good=False,
    ),
    _rate(
        "end_agent",
        "Ended: agent",
        "Cases ended by the agent: unusable replies, budget or deadline.",
        good=False,
    ),
    _rate(
        "false_accept",
        "False accepts",
        "Of the clips that the agent accepted from a few frames, those that it rejects when it is "
        "shown every frame; only in the loop in which it looks, and only where it accepted one.",
        good=False,
    ),
    _rate(
        "vanished",
        "Things gone or new",
        "Steps after which a thing is gone, or one is new, unplanned.",
        good=False,
    ),
)
"""How the loop went: for reading failures, never for ranking."""

BY_POSITION: tuple[Metric, ...] = tuple(
    Metric(
        f"subgoal_{number}", f"Subgoal {number} ticked", "rate", "higher", 0, 1,
        f"The share of raters who tick subgoal {number}, averaged over the cases that have one. "
        f"{CASE_ERROR}{HIGHER}",
    )
    for number in range(1, MOST_SUBGOALS + 1)
)  # fmt: skip
"""How far people see a job done, subgoal by subgoal."""

FAILURE_TAGS: tuple[Metric, ...] = tuple(
    Metric(
        f"tag_{kind}", title, "rate", "lower", 1, 0,
        f"The share of raters who mark a video so: {words} Averaged within a video and then over "
        f"videos. {CASE_ERROR}{LOWER}",
    )
    for kind, (title, words) in FAILURE_WORDS.items()
)  # fmt: skip
"""What people say went wrong, by the four kinds that the paper names: for reading, never for
ranking."""

METRICS: tuple[Metric, ...] = (FIDELITY, *BY_PEOPLE, *LOOP, *BY_POSITION, *FAILURE_TAGS)

"""The numbers of the TailOR suite: what each means, how it is made, and which way is better."""

from __future__ import annotations

from evaluators.contracts import Metric

FAILED = "An output that is missing, blocked or unreadable counts as the worst value. "
CHECKLIST = (
    "Unclear counts as not met, and so does a question whose parent is not met (it has fallen); a "
    "question the judge left unanswered leaves the share and is counted. " + FAILED
)
RATING = (
    "Averaged over raters, then over outputs; an output without a rating leaves the mean and is "
    "counted. " + FAILED
)
HIGHER = "Higher is better."
LOWER = "Lower is better."


def _dimension(name: str, title: str, parts: str) -> Metric:
    explain = (
        f"The mean of {parts}, each the share of its yes/no questions met, in percent. A part "
        "without questions is "
        "left out; a part with questions but no answers leaves the output without a value. "
        f"{CHECKLIST}{HIGHER}"
    )
    return Metric(name, title, "percent", "higher", 0, 100, explain, headline=True)


def _part(name: str, title: str, asks: str) -> Metric:
    explain = f"100 x questions met / questions answered, about {asks}. {CHECKLIST}{HIGHER}"
    return Metric(name, title, "percent", "higher", 0, 100, explain)


def _rating(name: str, title: str, asks: str) -> Metric:
    explain = f"A rating from 0 to 5 of {asks}. {RATING}{HIGHER}"
    return Metric(name, title, "rating_0_5", "higher", 0, 5, explain, headline=True)


def _gap(name: str, title: str, formula: str, meaning: str) -> Metric:
    explain = (
        f"{formula}, in points of the index. {meaning} No value when either side has none. {LOWER}"
    )
    return Metric(name, title, "points", "lower", 100, -100, explain)


INDEX = Metric(
    name="index",
    title="Index (not from the paper)",
    unit="percent",
    direction="higher",
    worst=0,
    best=100,
    explain=(
        "Our own summary, not from the paper: the mean of the four headline metrics with ratings "
        "times 20, the three "
        "scenarios weighing alike. An output that lacks one of the four has no index and is "
        "counted. "
        f"{FAILED}{HIGHER}"
    ),
    macro=("scenario",),
)

SHARED_INDEX = Metric(
    name="shared_index",
    title="Index over shared questions (not from the paper)",
    unit="percent",
    direction="higher",
    worst=0,
    best=100,
    explain=(
        "The index by the questions that the predictive and the descriptive prompt share, without "
        "details that only one of them tells, so that the two settings can be compared. "
        f"{FAILED}{HIGHER}"
    ),
    macro=("scenario",),
)
SHARED_ATTRIBUTES = Metric(
    name="shared_attribute_fidelity",
    title="Attribute fidelity over shared questions",
    unit="percent",
    direction="higher",
    worst=0,
    best=100,
    explain=(
        "Attribute fidelity by the questions that the predictive and the descriptive prompt share, "
        "without details that only one of them tells, so that the two settings can be compared; no "
        f"other part has details. {CHECKLIST}{HIGHER}"
    ),
)
FALLEN = Metric(
    name="fallen_questions",
    title="Questions that fell",
    unit="percent",
    direction="lower",
    worst=100,
    best=0,
    explain=(
        "100 x questions that count as not met because the question they hang on is not met / "
        f"questions answered. {FAILED}{LOWER}"
    ),
)

METRICS: tuple[Metric, ...] = (
    _dimension(
        "instruction_adherence",
        "Instruction adherence",
        "entity completeness, attribute fidelity and scene validity",
    ),
    _dimension(
        "interaction_accuracy",
        "Interaction accuracy",
        "state change, affordance grounding and, for video only, motion plausibility",
    ),
    _rating(
        "physical_realism",
        "Physical realism",
        "how well gravity, contact, materials and causes hold",
    ),
    _rating(
        "perceptual_quality",
        "Perceptual quality",
        "clarity and fidelity, for video also steadiness over frames",
    ),
    _part("entity_completeness", "Entity completeness", "whether everything asked for is there"),
    _part("attribute_fidelity", "Attribute fidelity", "whether things look as described"),
    _part("scene_validity", "Scene validity", "whether the place and arrangement fit the prompt"),
    _part(
        "state_change_correctness",
        "State change",
        "whether the outcome is the one this tool would have",
    ),
    _part(
        "affordance_grounding",
        "Affordance grounding",
        "whether the tool is used by the part that can do the job",
    ),
    _part(
        "motion_plausibility",
        "Motion plausibility",
        "whether the movement could happen; video only",
    ),
    FALLEN,
    INDEX,
    SHARED_INDEX,
    SHARED_ATTRIBUTES,
    _gap(
        "long_tail_gap",
        "Long-tail gap",
        "Regular minus the mean of unconventional and impossible",
        "It says how much is lost away from common tool use.",
    ),
    _gap(
        "setting_gap",
        "Setting gap",
        "Descriptive minus predictive, by the questions that both settings ask",
        "It says how much is gained when the prompt gives the outcome away.",
    ),
)

"""The numbers of the SC3-Eval suite: what each means, how it is made, and which way is better."""

from __future__ import annotations

from evaluators.contracts import Metric
from evaluators.suites.sc3.published import criterion_mean_r, real_success_rates

POINTS = (
    "A point is one policy and criterion: the success rate inside the world model and on the real "
    "robot, over all "
    "objects of all rollouts. "
)
STOPPED = "A rollout stopped early is scored on what there is"
ROLLOUTS = (
    f"{STOPPED}; while one is missing or unreadable there is no value, since leaving some out "
    "could steer it. "
)
UNDEFINED = "No value with fewer than two points or when either side does not vary. "
HIGHER = "Higher is better."
LOWER = "Lower is better."


def _reproduction(category: str, title: str, of_what: str) -> Metric:
    explain = (
        f"Of the real rollouts {of_what}, the share whose matched rollout in the world model ends "
        "the same way. A "
        f"missing rollout counts as not reproduced; no such real rollout, no value. {HIGHER}"
    )
    return Metric(f"reproduction_{category}", title, "rate", "higher", 0, 1, explain)


def _rate(name: str, title: str, where: str) -> Metric:
    explain = (
        f"The share of a policy's rollouts that meet a criterion {where}. {STOPPED}, and a missing "
        "or unreadable one "
        "meets no criterion. It describes and does not rank: "
        f"an evaluator is good when both rates agree. {HIGHER}"
    )
    return Metric(name, title, "rate", "higher", 0, 1, explain)


PEARSON_R = Metric(
    name="pearson_r",
    title="Pearson r",
    unit="r",
    direction="higher",
    worst=-1,
    best=1,
    explain=(
        "Pearson correlation of predicted and real success rates. "
        f"{POINTS}{ROLLOUTS}{UNDEFINED}Criteria differ in "
        "difficulty, so an evaluator that knows only their means, and nothing about any policy, "
        "already reaches "
        f"{criterion_mean_r(real_success_rates()):.2f} over the paper's points: read it beside r "
        "within criterion. "
        f"{HIGHER}"
    ),
    headline=True,
)

MMRV = Metric(
    name="mmrv",
    title="MMRV",
    unit="mmrv",
    direction="lower",
    worst=1,
    best=0,
    explain=(
        "Mean maximum rank violation: for each point the largest real difference to a point it is "
        "ranked wrongly "
        f"against, averaged over points. {POINTS}{ROLLOUTS}Equal real rates cost nothing. No "
        f"points, no value. {LOWER}"
    ),
    headline=True,
)

PEARSON_R_WITHIN = Metric(
    name="pearson_r_within",
    title="Pearson r within criterion",
    unit="r",
    direction="higher",
    worst=-1,
    best=1,
    explain=(
        "Pearson correlation after each criterion's mean is taken off, from the predicted rates "
        "and from the real "
        "ones: what is left is telling policies apart. Not from the paper, and its methods have no "
        "value: it prints "
        f"the real rates but no predicted ones. {POINTS}{ROLLOUTS}{UNDEFINED}{HIGHER}"
    ),
    headline=True,
)

REPRODUCTION_AVERAGE = Metric(
    name="reproduction_average",
    title="Outcome reproduction",
    unit="rate",
    direction="higher",
    worst=0,
    best=1,
    explain=(
        "The mean of the four reproduction rates, each outcome weighing alike however often it "
        "occurs. An outcome "
        "that no real rollout has is left out; a missing rollout counts as not reproduced. "
        f"{HIGHER}"
    ),
    headline=True,
)

PSNR = Metric(
    name="psnr",
    title="PSNR",
    unit="db",
    direction="higher",
    worst=0,
    best=100,
    explain=(
        "10 x log10(255^2 / mean squared error) of each generated frame against the real one, "
        "averaged over frames "
        "and views (on our own table every fourth frame, which are kept of the real run, as "
        "H.264); identical frames count 100 dB. Offline only, since online rollouts have no "
        "real counterpart. "
        f"A missing or unreadable rollout counts 0. {HIGHER}"
    ),
)

SSIM = Metric(
    name="ssim",
    title="SSIM",
    unit="r",
    direction="higher",
    worst=0,
    best=1,
    explain=(
        "Structural similarity of each generated frame with the real one, on grey values in "
        "windows of 7 x 7 pixels, averaged over frames and views. Offline only. Not from the "
        f"paper. A missing or unreadable rollout counts 0. {HIGHER}"
    ),
)

LPIPS = Metric(
    name="lpips",
    title="LPIPS",
    unit="r",
    direction="lower",
    worst=1,
    best=0,
    explain=(
        "How far apart generated and real frames look by the features of a picture classifier "
        "(AlexNet or VGG) and published weights of them, averaged over frames and views. Offline "
        "only. Computed where an operator gives the weights (ARMILLARY_FIDELITY); without them "
        f"there is no value. A missing or unreadable rollout counts 1. {LOWER}"
    ),
)

FVD = Metric(
    name="fvd",
    title="FVD",
    unit="count",
    direction="lower",
    worst=10000,
    best=0,
    explain=(
        "The Fréchet distance between the features of generated and real films by a video network "
        "(VideoMAE, for one), each view of each rollout a film. Offline only. Computed where an "
        "operator gives the weights (ARMILLARY_FIDELITY); comparable only between entries read "
        "by the same weights on as many films, since it is larger with few. No interval, and "
        f"while a rollout is missing no value. {LOWER}"
    ),
)

TERMINATION_RATE = Metric(
    name="termination_rate",
    title="Termination rate",
    unit="rate",
    direction="lower",
    worst=1,
    best=0,
    explain=(
        "Online rollouts stopped early because recovered actions strayed from the commanded ones / "
        "all online "
        "rollouts. An evaluator that never checks has 0, so this describes and does not rank. "
        "Rollouts that never "
        f"ran leave the share and are counted. {LOWER}"
    ),
)

RATE_ERROR = Metric(
    name="rate_error",
    title="Success-rate error",
    unit="rate",
    direction="lower",
    worst=1,
    best=0,
    explain=(
        "The mean absolute difference of predicted and real success rate, which a correlation does "
        "not see. Not from "
        f"the paper. {POINTS}{ROLLOUTS}No points, no value. {LOWER}"
    ),
)

PREDICTED_RATE = _rate("predicted_rate", "Predicted success rate", "inside the world model")
REAL_RATE = _rate("real_rate", "Real success rate", "on the real table, which is simulated here")

METRICS: tuple[Metric, ...] = (
    PEARSON_R,
    MMRV,
    PEARSON_R_WITHIN,
    REPRODUCTION_AVERAGE,
    _reproduction(
        "language_following_failure", "Reproduction: wrong object", "that go for the wrong object"
    ),
    _reproduction(
        "object_lifting_failure", "Reproduction: not lifted", "that choose rightly but do not lift"
    ),
    _reproduction(
        "object_placing_failure", "Reproduction: not placed", "that lift but do not place"
    ),
    _reproduction("no_failure", "Reproduction: success", "that meet every criterion"),
    PSNR,
    SSIM,
    LPIPS,
    FVD,
    TERMINATION_RATE,
    RATE_ERROR,
    PREDICTED_RATE,
    REAL_RATE,
)

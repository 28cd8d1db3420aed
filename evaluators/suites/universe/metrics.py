"""The numbers of the UNIVERSE suite: what each means, how it is made, and which way is better."""

from __future__ import annotations

from evaluators.contracts import Metric

ANSWERS = (
    "The two yes/no questions of a clip make its binary value together. An answer that is missing "
    "or blank counts 0. "
)
LABELS = "Answers labelled unclear, or not labelled yet, leave both sides and are counted. "
HIGHER = "Higher is better."


def _share(name: str, title: str, formula: str, *, headline: bool = False) -> Metric:
    return Metric(
        name, title, "percent", "higher", 0, 100, f"{formula} {ANSWERS}{HIGHER}", headline=headline
    )


def _accuracy(name: str, title: str, formula: str) -> Metric:
    explain = (
        f"{formula}, as judged by people who watched the rollout. {LABELS}No labels, no value. "
        f"{HIGHER}"
    )
    return Metric(name, title, "percent", "higher", 0, 100, explain)


SCORE = Metric(
    name="score",
    title="Task score",
    unit="percent",
    direction="higher",
    worst=0,
    best=100,
    explain=(
        "Exact match averaged so that the three question formats weigh alike within a task, and "
        "the tasks weigh "
        f"alike together, however many questions each has. {ANSWERS}{HIGHER}"
    ),
    headline=True,
    macro=("task", "setting"),
)

COHEN_KAPPA = Metric(
    name="cohen_kappa",
    title="Cohen's kappa",
    unit="r",
    direction="higher",
    worst=-1,
    best=1,
    explain=(
        "(observed - chance agreement) / (1 - chance agreement) of the two first raters, "
        "unweighted. Pairs with an "
        "unclear label are left out, and the adjudicator never enters. No value when only one "
        "label occurs. It "
        f"speaks for the study, not for the judge. {HIGHER}"
    ),
)

PEARSON_FVD = Metric(
    name="pearson_fvd",
    title="Correlation with FVD",
    unit="r",
    direction="lower",
    worst=1,
    best=-1,
    explain=(
        "Pearson's r between the FVD of rollouts and the judge's score on them, a setting and task "
        "each. FVD is lower "
        "for better videos, so a judge that saw what FVD sees would be near -1; near 0 they see "
        "different things. "
        "Lower is better."
    ),
)

METRICS: tuple[Metric, ...] = (
    SCORE,
    _share(
        "em_normalised",
        "Exact match",
        "100 x answers equal to the truth / questions, after lower-casing, trimming, joining "
        "spaces and dropping end "
        "punctuation.",
        headline=True,
    ),
    _share(
        "em_strict",
        "Exact match, to the letter",
        "100 x answers equal to the truth letter for letter / questions.",
    ),
    _share(
        "rouge_f1",
        "ROUGE-n F1",
        "F1 of shared word n-grams, n = 2 for binary and 3 otherwise, but never more words than "
        "the true answer has, "
        "so that a right answer always scores 100. Not comparable with the ROUGE the paper prints.",
    ),
    _share("rouge1", "ROUGE-1 F1", "F1 of the single words an answer shares with the truth."),
    _share(
        "rougel",
        "ROUGE-L F1",
        "F1 of the longest run of words, gaps allowed, an answer shares with the truth.",
    ),
    _accuracy(
        "graded_accuracy",
        "Graded accuracy",
        "100 x (correct + half of partly correct) / answerable",
    ),
    _accuracy(
        "strict_accuracy",
        "Strict accuracy",
        "100 x correct / answerable, partly correct counting nothing",
    ),
    COHEN_KAPPA,
    PEARSON_FVD,
)

"""How people rate rollouts: do they show what the world was given? Two labels and a third make
one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from evaluators.contracts import (
    FormAsk,
    Json,
    Opinion,
    Outcome,
    Output,
    RatedItem,
    Rating,
    RatingForm,
    Sample,
    Score,
)
from evaluators.statistics.agreement import cohen_kappa
from evaluators.statistics.grading import (
    Accuracy,
    Grade,
    GradedItem,
    accuracy,
    primary_agreement,
)
from evaluators.statistics.opinions import by_method
from evaluators.suites.universe.boards.worlds.metrics import PEOPLE_METRICS
from evaluators.suites.universe.boards.worlds.others import OTHERS
from evaluators.suites.universe.boards.worlds.scoring import label_of

GRADES = tuple(Grade)
SUBJECTS = ("action", "character")
GUIDE = (
    "Watch the whole clip: fourteen frames of play in first person. You are told what the player "
    "was made to do and who stood in view when the clip began. Say whether the clip shows it. "
    "Judge only what can be seen; blurred pictures in which it can still be made out are correct. "
    "If you are not sure, say unclear."
)
EXAMPLES = (
    "Told: turning left. The view turns left and then dissolves: partially correct.",
    "Told: Imp. Something stands there, but it could be anybody: incorrect.",
    "Told: shooting. The whole picture is grey: incorrect.",
)
ATTENTION_EACH = 6
PEOPLE = tuple(metric.name for metric in PEOPLE_METRICS)
BESIDE = {
    "graded_accuracy": "score",
    "strict_accuracy": "score",
    "graded_action": "judged_action",
    "graded_character": "judged_character",
}
"""What an automatic judge says of the same."""


def words(sample: Sample, _output: Output) -> Mapping[str, Json]:
    """What the world was given."""
    return {subject: label_of(sample, subject) for subject in SUBJECTS}


def form(item: Mapping[str, Any], _letters: Sequence[str]) -> RatingForm:
    """Two questions about one rollout."""
    text = f"The player was made to do this: {item['action']}. In view stood: {item['character']}."
    return RatingForm(
        text,
        (
            FormAsk("action", "Does the player do it?", "choice", options=GRADES),
            FormAsk(
                "character",
                f"Can {item['character']} be made out, where the view still holds them?",
                "choice",
                options=GRADES,
            ),
        ),
    )


def table(ratings: Sequence[RatedItem], _seed: int) -> Mapping[str, Mapping[str, Any]]:
    """Accuracies of each method, what is unclear and pending, and the raters' agreement."""
    return by_method(ratings, _figures)


def _figures(items: list[list[Opinion]]) -> dict[str, Any]:
    graded = {name: [label(item, name) for item in items] for name in SUBJECTS}
    every = [one for name in SUBJECTS for one in graded[name]]
    whole = accuracy(every)
    return {
        "graded": whole.graded,
        "strict": whole.strict,
        "graded_action": accuracy(graded["action"]).graded,
        "graded_character": accuracy(graded["character"]).graded,
        "n": whole.n_answerable,
        "unclear": whole.n_unclear,
        "pending": whole.n_pending,
        "kappa": primary_agreement(every).value,
    }


def score(sample: Sample, output: Output, opinions: Sequence[Opinion]) -> tuple[Score, ...]:
    """People's numbers of one rollout; what is unclear leaves them, what waits is counted."""
    if output.outcome is not Outcome.SCORED:
        return tuple(Score(sample.id, name, output.outcome) for name in PEOPLE)
    each = {name: accuracy([label(opinions, name)]) for name in SUBJECTS}
    both = accuracy([label(opinions, name) for name in SUBJECTS])
    return (
        _scored(sample, "graded_accuracy", both, both.graded),
        _scored(sample, "strict_accuracy", both, both.strict),
        _scored(sample, "graded_action", each["action"], each["action"].graded),
        _scored(sample, "graded_character", each["character"], each["character"].graded),
    )


def _scored(sample: Sample, metric: str, labels: Accuracy, value: float | None) -> Score:
    if value is None:
        pending = labels.n_pending > 0
        return Score(sample.id, metric, Outcome.JUDGE_ERROR if pending else Outcome.EXCLUDED)
    detail: dict[str, Json] = {"labels": [str(name) for name in labels.final_labels]}
    return Score(sample.id, metric, Outcome.SCORED, value, detail)


def label(opinions: Sequence[Opinion], subject: str) -> GradedItem:
    """The labels of the two primaries, in their order, and the adjudicator's."""
    primaries = {
        opinion.place: str(opinion.answers[subject]) for opinion in opinions if not opinion.settles
    }
    settled = next((str(o.answers[subject]) for o in opinions if o.settles), None)
    return GradedItem(primaries.get(0), primaries.get(1), settled)


def agree(pairs: Sequence[tuple[float, float]]) -> Mapping[str, float | None]:
    """How far a judge says the same of rollouts as people, from 0 to 100: graded, where half right
    agrees by half, strict, where only the same counts; and kappa beyond chance.

    >>> agree([(100.0, 100.0), (0.0, 0.0), (100.0, 50.0), (0.0, 100.0)])["graded"]
    62.5
    """
    if not pairs:
        return {"graded": None, "strict": None, "kappa": None}
    near = [100 - abs(judged - people) for judged, people in pairs]
    names = sorted({str(value) for pair in pairs for value in pair})
    judged, people = ([str(pair[side]) for pair in pairs] for side in (0, 1))
    return {
        "graded": fmean(near),
        "strict": 100 * fmean(first == second for first, second in pairs),
        "kappa": cohen_kappa(judged, people, names).value,
    }


RATING = Rating(
    words,
    form,
    table,
    GUIDE,
    EXAMPLES,
    score=score,
    beside=BESIDE,
    adjudicated=True,
    attention_each=ATTENTION_EACH,
    agree=agree,
    others=OTHERS,
)

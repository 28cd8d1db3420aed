"""How people rate UNIVERSE's answers: the clip, the question, what was answered; two labels and a
third make one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
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
from evaluators.media import write_mp4
from evaluators.statistics.grading import Grade, GradedItem, accuracy, primary_agreement
from evaluators.statistics.opinions import by_method
from evaluators.suites.universe.bank import frames_of
from evaluators.worlds.doom.places import RATE

GRADES = ("correct", "partially_correct", "incorrect", "unclear")
GUIDE = (
    "Watch the whole clip. Judge the answer by what is visible only. If several "
    "readings are possible and the answer fits one of them, it is correct. If you are not sure, "
    "say unclear."
)
EXAMPLES = (
    "Question: what does the player do? Answer: it runs. The player runs and then jumps: "
    "partially correct.",
    "Two readings fit what is seen, and the answer gives one of them: correct.",
    "Smoke hides the player the whole time: unclear, whatever the answer says.",
)
ATTENTION_EACH = 4
"""A single question is easily hit by chance: more items check attention than elsewhere."""
PEOPLE = ("graded_accuracy", "strict_accuracy")


def words(sample: Sample, output: Output) -> Mapping[str, Json]:
    """The question, and what the entry answered."""
    return {"question": sample.prompt, "answer": str(output.record.get("value", ""))}


def form(item: Mapping[str, Any], _letters: Sequence[str]) -> RatingForm:
    """One question about a clip and an entry's answer to it."""
    text = f"Question: {item['question']}\n\nAnswer: {item['answer']}"
    return RatingForm(text, (FormAsk("grade", "Is this answer right?", "choice", options=GRADES),))


def table(ratings: Sequence[RatedItem], _seed: int) -> Mapping[str, Mapping[str, Any]]:
    """Accuracies of each method, what is unclear and pending, and the raters' agreement."""
    return by_method(ratings, _figures)


def _figures(items: list[list[Opinion]]) -> dict[str, Any]:
    labelled = [graded(item) for item in items]
    accuracies = accuracy(labelled)
    return {
        "graded": accuracies.graded,
        "strict": accuracies.strict,
        "n": accuracies.n_answerable,
        "unclear": accuracies.n_unclear,
        "pending": accuracies.n_pending,
        "kappa": primary_agreement(labelled).value,
    }


def show(sample: Sample, _file: Path | None, folder: Path) -> Path:
    """The recorded clip that was asked about."""
    return write_mp4(frames_of(sample), folder / "clip.mp4", RATE)


def score(sample: Sample, output: Output, opinions: Sequence[Opinion]) -> tuple[Score, ...]:
    """Graded and strict accuracy of one answer; unclear leaves both, and one that waits for a label
    is counted."""
    if output.outcome is not Outcome.SCORED:
        return tuple(Score(sample.id, name, output.outcome) for name in PEOPLE)
    result = accuracy([graded(opinions)])
    (label,) = result.final_labels
    if label is None or label is Grade.UNCLEAR:
        outcome = Outcome.EXCLUDED if label else Outcome.JUDGE_ERROR
        return tuple(Score(sample.id, name, outcome) for name in PEOPLE)
    detail: dict[str, Json] = {"label": str(label), "raters": len(opinions)}
    pairs = zip(PEOPLE, (result.graded, result.strict), strict=True)
    return tuple(Score(sample.id, name, Outcome.SCORED, value, detail) for name, value in pairs)


def graded(opinions: Sequence[Opinion]) -> GradedItem:
    """The labels of the two primaries, in their order, and the adjudicator's."""
    primary_grades = {
        opinion.place: str(opinion.answers["grade"]) for opinion in opinions if not opinion.settles
    }
    settled = next((str(opinion.answers["grade"]) for opinion in opinions if opinion.settles), None)
    return GradedItem(primary_grades.get(0), primary_grades.get(1), settled)


RATING = Rating(
    words,
    form,
    table,
    GUIDE,
    EXAMPLES,
    show=show,
    score=score,
    beside=dict.fromkeys(PEOPLE, "em_normalised"),
    adjudicated=True,
    attention_each=ATTENTION_EACH,
)

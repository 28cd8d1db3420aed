"""How people rate TailOR's outputs: by the prompt and the judge's own questions, scored by the
judge's own rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.contracts import FormAsk, Json, Output, Question, Rating, RatingForm, Sample
from evaluators.metrics.rubric import PARTS
from evaluators.statistics.opinions import mean_answers

YES_NO_UNCLEAR = ("yes", "no", "unclear")
ZERO_TO_FIVE = ("0", "1", "2", "3", "4", "5")
REALISM = ("0: plainly impossible", "5: weight, contact, material and cause all right")
QUALITY = ("0: hardly recognisable", "5: clean, and the same things stay the same")
GUIDE = (
    "Read the description, look at the output, answer each question by what can be seen. "
    "If it cannot be told, say unclear. Some questions appear only after a yes to the one "
    "they hang on. Then give the two marks."
)
EXAMPLES = (
    "Asked whether the nail is in the wood, and the shoe hides it: unclear, even if it most "
    "likely is.",
    "The nail bends like rubber when it is hit: a low mark for realism, even if the picture is "
    "beautiful.",
    "A sharp picture in which the tool changes its shape from frame to frame: a low mark for "
    "quality.",
)


def words(sample: Sample, _output: Output) -> Mapping[str, Json]:
    """The prompt and every question about it, with the part of the rubric that it belongs to."""
    return {
        "prompt": sample.prompt,
        "questions": [_question(question) for question in sample.questions],
    }


def _question(question: Question) -> dict[str, Json]:
    return {
        "id": question.id,
        "text": question.text,
        "kind": question.kind,
        "part": question.part,
        "parent": question.parent,
    }


def form(item: Mapping[str, Any], _letters: Sequence[str]) -> RatingForm:
    """A checklist and two marks about one output."""
    prompt, questions = item["prompt"], item["questions"]
    return RatingForm(prompt, tuple(_ask(question) for question in questions))


def _ask(question: Mapping[str, Any]) -> FormAsk:
    name, text = question["id"], question["text"]
    if question["kind"] == "rating":
        anchors = QUALITY if "quality" in name else REALISM
        return FormAsk(name, text, "scale", options=ZERO_TO_FIVE, anchors=anchors)
    return FormAsk(name, text, "choice", options=YES_NO_UNCLEAR, after=question.get("parent", ""))


RATING = Rating(words, form, mean_answers, GUIDE, EXAMPLES, parts=PARTS)

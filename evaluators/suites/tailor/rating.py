"""How people rate TailOR's outputs: by the prompt and the judge's own questions, scored by the
judge's own rule."""

from __future__ import annotations

from collections.abc import Mapping

from evaluators.contracts import Json, Output, Question, Rating, Sample


def words(sample: Sample, _output: Output) -> Mapping[str, Json]:
    """The prompt and every question about it, with the part of the rubric that it belongs to."""
    return {
        "prompt": sample.prompt,
        "questions": [_question(question) for question in sample.questions],
    }


def _question(question: Question) -> dict[str, Json]:
    return {"id": question.id, "text": question.text, "kind": question.kind, "part": question.part}


RATING = Rating(words)

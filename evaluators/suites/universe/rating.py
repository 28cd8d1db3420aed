"""How people rate UNIVERSE's answers: the clip, the question, what was answered; two labels and a
third make one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluators.contracts import Json, Opinion, Outcome, Output, Rating, Sample, Score
from evaluators.media import write_mp4
from evaluators.statistics.grading import Grade, GradedItem, accuracy
from evaluators.suites.universe.bank import clip_of
from evaluators.worlds.arena import game

PEOPLE = ("graded_accuracy", "strict_accuracy")


def words(sample: Sample, output: Output) -> Mapping[str, Json]:
    """The question, and what the entry answered."""
    return {"question": sample.prompt, "answer": str(output.record.get("value", ""))}


def show(sample: Sample, _file: Path | None, folder: Path) -> Path:
    """The simulated clip that was asked about."""
    return write_mp4(clip_of(sample).frames(), folder / "clip.mp4", game.CLIP_FPS)


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


RATING = Rating(words, show, score=score, beside=dict.fromkeys(PEOPLE, "em_normalised"))

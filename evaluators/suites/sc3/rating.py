"""How people rate SC3's rollouts: three criteria an object, rollouts and the real table's among
each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

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
from evaluators.metrics.outcomes import ObjectOutcome, categorise
from evaluators.statistics.opinions import by_method, grouped
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, from_bytes
from evaluators.suites.sc3.samples import recording_of
from evaluators.suites.sc3.scoring import Truth, table_truth
from evaluators.suites.sc3.scoring import score as score_rollout
from evaluators.suites.sc3.table.recordings import EVERY
from evaluators.suites.sc3.table_bench import sighted
from evaluators.worlds.actions import RATE_HZ

CRITERION_WORDS = {
    "language_following": "the hand closed on it before any other object",
    "object_lifting": "it, or whatever else the hand closed on first, left the table in the hand",
    "object_placing": "it, or whatever else the hand closed on first, was let go and lies in "
    "the bin of the task",
}
GUIDE = (
    "Judge three things by themselves: is the named object the first one that the hand "
    "closed on, did the one that it closed on first leave the table in the hand, was that one let "
    "go in the bin that the task names."
)
EXAMPLES = (
    "The hand closes on the right can, which slips away: yes, then not lifted and not placed.",
    "The right can is lifted and dropped beside the bin: yes, lifted, not placed.",
    "The milk is taken instead and ends in the bin of the task: no, then lifted and placed.",
)
PEOPLE = "people"
SIDE = 192
"""Small simulated pictures are enlarged to about so many pixels a side."""


def words(sample: Sample, _output: Output) -> Mapping[str, Json]:
    """What the robot was told, and the objects it is about."""
    return {"instruction": sample.prompt, "objects": list(objects_of(sample))}


def objects_of(sample: Sample) -> tuple[str, ...]:
    """The objects whose criteria count, in their order."""
    listed = sample.reference.get("objects", [sample.reference["object"]])
    assert isinstance(listed, list)
    return tuple(str(name) for name in listed)


def form(item: Mapping[str, Any], _letters: Sequence[str]) -> RatingForm:
    """Three criteria for each object of a trajectory, seen from every side."""
    instruction, objects = item["instruction"], item["objects"]
    asks = [
        FormAsk(f"{name}.{criterion}", f"{name}: {text}", "choice", options=("yes", "no"))
        for name in objects
        for criterion, text in CRITERION_WORDS.items()
    ]
    return RatingForm(instruction, tuple(asks))


def table(ratings: Sequence[RatedItem], _seed: int) -> Mapping[str, Mapping[str, Any]]:
    """Success rates a criterion over all objects, and how rollouts end: by the first criterion some
    object fails."""
    return by_method(ratings, _figures)


def _figures(items: list[list[Opinion]]) -> dict[str, Any]:
    held = [
        (ask.rpartition(".")[2], holds) for item in items for ask, holds in labels(item).items()
    ]
    rates = {
        name: fmean(holds for _, holds in pairs)
        for name, pairs in grouped(held, lambda pair: pair[0]).items()
    }
    ends = Counter(str(categorise([ObjectOutcome(**criteria(item))])) for item in items)
    return {**rates, "ends": dict(ends)}


def show(sample: Sample, file: Path | None, folder: Path) -> Path:
    """All views of a rollout beside each other, in step; without a file, what really happened on
    the table. Every fourth frame of either, since no others of the real run are kept."""
    if file:
        frames = sighted(from_bytes(file.read_bytes()).frames[:, ::EVERY])
    else:
        frames = recording_of(sample).kept_frames()
    return side_by_side(frames, folder, RATE_HZ / EVERY)


def side_by_side(views: npt.NDArray[np.uint8], folder: Path, rate: float) -> Path:
    """A clip of all views beside each other."""
    times = max(1, SIDE // views.shape[2])
    large = views.repeat(times, axis=2).repeat(times, axis=3)
    return write_mp4(np.concatenate(list(large), axis=2), folder / "views.mp4", rate)


def score(
    sample: Sample, output: Output, opinions: Sequence[Opinion], real: Truth = table_truth
) -> tuple[Score, ...]:
    """The rollout's scores with people's criteria in the place of any others."""
    read = output.record.get("value")
    if output.outcome is not Outcome.SCORED or not isinstance(read, Mapping):
        return score_rollout(sample, output, {}, real)
    held = labels(opinions)
    by_object: list[Json] = [
        {name: held.get(f"{thing}.{name}", False) for name in CRITERIA}
        for thing in objects_of(sample)
    ]
    value_with_criteria: dict[str, Json] = {
        **read,
        "criteria": {**criteria(opinions)},
        "objects": by_object,
        "annotator": PEOPLE,
        "labels": PEOPLE,
    }
    return score_rollout(
        sample, replace(output, record={**output.record, "value": value_with_criteria}), {}, real
    )


def criteria(opinions: Sequence[Opinion]) -> dict[str, bool]:
    """What holds of a rollout: a criterion that holds for every object."""
    held = labels(opinions)
    return {
        name: all(held[ask] for ask in held if ask.rpartition(".")[2] == name) for name in CRITERIA
    }


def labels(opinions: Sequence[Opinion]) -> dict[str, bool]:
    """Each object's criterion: by the adjudicator if there is one, otherwise by majority, a tie
    against it."""
    heard = [opinion for opinion in opinions if opinion.settles] or list(opinions)
    questions = dict.fromkeys(ask for opinion in heard for ask in opinion.answers)
    return {
        ask: 2 * sum(opinion.answers.get(ask) == "yes" for opinion in heard) > len(heard)
        for ask in questions
    }


RATING = Rating(
    words,
    form,
    table,
    GUIDE,
    EXAMPLES,
    show=show,
    real=True,
    score=score,
    adjudicated=True,
)

"""How people rate SC3's rollouts: three criteria an object, rollouts and the real table's among
each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaluators.contracts import Json, Opinion, Outcome, Output, Rating, Sample, Score
from evaluators.media import write_mp4
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, from_bytes
from evaluators.suites.sc3.samples import on_the_table, starts
from evaluators.suites.sc3.scoring import score as score_rollout
from evaluators.worlds.bussing.bench import RATE_HZ

PEOPLE = "people"
SIDE = 192
"""Small simulated pictures are enlarged to about so many pixels a side."""


def words(sample: Sample, _output: Output) -> Mapping[str, Json]:
    """What the robot was told, and the object it is about."""
    return {"instruction": sample.prompt, "objects": [sample.reference["object"]]}


def show(sample: Sample, file: Path | None, folder: Path) -> Path:
    """All views of a rollout beside each other, in step; without a file, what really happened on
    the table."""
    policy, start = starts()[sample.cluster]
    views = (from_bytes(file.read_bytes()) if file else on_the_table(policy)[start.id]).frames
    times = max(1, SIDE // views.shape[2])
    large = views.repeat(times, axis=2).repeat(times, axis=3)
    return write_mp4(np.concatenate(list(large), axis=2), folder / "views.mp4", RATE_HZ)


def score(sample: Sample, output: Output, opinions: Sequence[Opinion]) -> tuple[Score, ...]:
    """The rollout's scores with people's criteria in the place of any others."""
    read = output.record.get("value")
    if output.outcome is not Outcome.SCORED or not isinstance(read, Mapping):
        return score_rollout(sample, output, {})
    value_with_criteria: dict[str, Json] = {
        **read,
        "criteria": {**criteria(opinions)},
        "annotator": PEOPLE,
        "labels": PEOPLE,
    }
    return score_rollout(
        sample, replace(output, record={**output.record, "value": value_with_criteria}), {}
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


RATING = Rating(words, show, real=True, score=score)

"""A small learned part of a policy: which of two things a name means, from a few demonstrations."""

from __future__ import annotations

from functools import cache

import numpy as np

from evaluators.worlds.bussing.bench import Floats
from evaluators.worlds.bussing.starts import COLOURS, FORWARD, OBJECTS, draw_start, seed_of
from evaluators.worlds.policies.perception import PerceivedObjects

STEPS, RATE, SHRINK = 400, 1.0, 0.01


def learned_choice(demonstrations: int, name: str, perceived: PerceivedObjects) -> bool:
    """Whether the model trained on so many demonstrations takes the named object rather than the
    other."""
    weights = _weights(demonstrations)[OBJECTS.index(name)]
    gap = _features(perceived.named_colour) - _features(perceived.distractor_colour)
    return bool(weights @ gap > 0)


@cache
def _weights(demonstrations: int) -> Floats:
    """Logistic regression on colour differences, one row a name; names share what they have in
    common."""
    starts = [draw_start(f"demonstration-{number}", FORWARD) for number in range(demonstrations)]
    names = np.array([OBJECTS.index(start.named_object) for start in starts])
    gaps = np.array([_gap(start.objects, start.named) for start in starts])
    rng = np.random.default_rng(seed_of("learned", demonstrations))
    weights = rng.normal(0, 0.05, (len(OBJECTS), gaps.shape[1]))
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(np.clip((weights[names] * gaps).sum(1), -30, 30)))
        push = np.zeros_like(weights)
        np.add.at(push, names, wrong[:, None] * gaps)
        weights += RATE * (push / max(demonstrations, 1) - SHRINK * weights)
    return weights


def _gap(objects: tuple[str, str], named: int) -> Floats:
    colours = [_features(COLOURS[OBJECTS.index(name)]) for name in objects]
    return colours[named] - colours[1 - named]


def _features(colour: tuple[float, float, float]) -> Floats:
    return np.array(colour, float) / 255 - 0.5

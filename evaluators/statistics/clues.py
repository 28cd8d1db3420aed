"""How far labels follow from words that stand beside them: whether a bank gives its answers away,
and whether an entry answers without looking."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from random import Random

from evaluators.contracts import Sample

Clue = Callable[[Sample, int], Hashable]
"""What a rule that looks at nothing may go by: a sample's words, and its place in the list."""
CLUES: Mapping[str, Clue] = {
    "question": lambda sample, _: sample.prompt,
    "length of the question": lambda sample, _: len(sample.prompt),
    "first letter of the id": lambda sample, _: sample.id[:1],
    "last letter of the id": lambda sample, _: sample.id[-1:],
    "last letter of the clip's id": lambda sample, _: sample.cluster[-1:],
    "parity of the place": lambda _, place: place % 2,
    "place in tenths": lambda _, place: place // 100,
}
SHUFFLES = 200


def explained(labels: Sequence[Hashable], clues: Sequence[Hashable]) -> float:
    """Share of labels that are the most frequent one among the others with the same clue; 0 for
    none.

    >>> explained(["yes", "yes", "no", "no"], ["a", "a", "b", "b"])
    1.0
    >>> explained(["yes", "no", "yes", "no"], ["a", "a", "b", "b"])
    0.0
    """
    counts: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for label, clue in zip(labels, clues, strict=True):
        counts[clue][label] += 1
    right = sum(
        _usual(counts[clue], label) == label for label, clue in zip(labels, clues, strict=True)
    )
    return right / len(labels) if labels else 0.0


def _usual(counts: Counter[Hashable], left_out: Hashable) -> Hashable:
    """The most frequent label without one of those left out; that one loses a tie."""
    others = [(n - (label == left_out), label != left_out, label) for label, n in counts.items()]
    count, _, label = max(others, key=lambda other: other[:2])
    return label if count else None


def luck(labels: Sequence[Hashable], clues: Sequence[Hashable], shuffles: int = SHUFFLES) -> float:
    """How often shuffled labels are explained as well as these: small where the clue tells
    something. The shuffling is always the same."""
    dice, target = Random(0), explained(labels, clues)  # noqa: S311
    mixed, as_good = list(labels), 0
    for _ in range(shuffles):
        dice.shuffle(mixed)
        as_good += explained(mixed, clues) >= target
    return (1 + as_good) / (1 + shuffles)

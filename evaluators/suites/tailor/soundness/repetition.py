"""One meaning asked once: questions of one rubric that say the same by their words, or by their
parent and what they ask of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from evaluators.suites.tailor.bank import Bank, RubricItem, prompts_of
from evaluators.suites.tailor.soundness.expanded import ReadInstance, content_words, instances
from evaluators.suites.tailor.wording import BankFinding

ALIKE = 0.6
"""Two questions that share more of their content words than this ask the same."""
MEANINGS = {
    "whole": r"whole|intact|unbroken|uncracked|undamaged|closed|sealed|one( \w+)? piece"
    r"|unchanged|untouched|uncut|unopened|unpeeled|uncrushed|hidden inside|continuous",
    "parted": r"two( \w+)? (pieces|parts|halves)|severed|divided|split|cut through|parted"
    r"|separate(d)? (pieces|parts)|in pieces|fragments|broken|cracked|shattered",
    "limp": r"limp|bent|buckled|folded|flopp\w+|sagg\w+|kinked|droop\w*|crumpled",
    "squashed": r"squashed|flattened|crushed|mushy|squeezed flat|deform\w*|compress\w*|dented",
    "clean": r"clean|clear|spotless|dirt-free",
    "held": r"held|holding|gripped|grip|grasped|grasping",
}
"""Ways to ask one thing of one parent."""


def asked_twice(bank: Bank) -> Iterator[BankFinding]:
    """Pairs of questions of one prompt with one meaning."""
    for instance in instances(bank):
        for first, second in combinations(instance.items, 2):
            if set(prompts_of(first)) & set(prompts_of(second)):
                yield from _repetition(instance, first, second)


def _repetition(
    instance: ReadInstance, first: RubricItem, second: RubricItem
) -> Iterator[BankFinding]:
    own = {row["id"] for row in instance.row["questions"]}
    if not own & {first.id, second.id} and instance.row["index"]:
        return
    place = f"{instance.where} {second.id}"
    words = content_words(first.text), content_words(second.text)
    share = len(words[0] & words[1]) / max(len(words[0] | words[1]), 1)
    if second.parent == first.id:
        if words[1] <= words[0]:
            yield BankFinding(
                place, f"asks no more than its parent: {first.text!r}, {second.text!r}"
            )
    elif share > ALIKE:
        yield BankFinding(
            place,
            f"shares {share:.0%} of its words with {first.id}: {first.text!r}, {second.text!r}",
        )
    elif meaning := _common_meaning(first, second):
        yield BankFinding(
            place,
            f"asks of {second.parent!r} what {first.id} asks ({meaning}): {first.text!r}, "
            f"{second.text!r}",
        )


def _common_meaning(first: RubricItem, second: RubricItem) -> str:
    if not first.parent or first.parent != second.parent or first.part != second.part:
        return ""
    texts = first.text.lower(), second.text.lower()
    return next(
        (
            name
            for name, pattern in MEANINGS.items()
            if all(re.search(rf"\b({pattern})\b", text) for text in texts)
        ),
        "",
    )

"""Prompts that a safety filter blocked: which prompts stand in for them, drawn by a rule and never
chosen."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import ceil

from submissions.bundle.answers import AnswerRule
from submissions.format.errors import Problem, shown
from submissions.format.manifest import Manifest

MOST_BLOCKED = 0.05
"""Of the samples of a ranked entry that was made elsewhere: nobody here saw the filter, so little
may hang on it."""

Stratum = tuple[str, str, str]


def stratum_of(rule: AnswerRule) -> Stratum:
    """Scenario, setting and modality: what a stand-in has in common with what it stands for."""
    return rule.scenario, rule.setting, rule.modality


def drawing_order(ids: Collection[str], stratum: Stratum, seed: int) -> list[str]:
    """The samples of a stratum in the order in which they are drawn.

    >>> drawing_order(["b", "a", "c"], ("regular", "predictive", "image"), 7)
    ['c', 'b', 'a']
    """
    order = sorted(ids)
    random.Random(f"{seed} {' '.join(stratum)}").shuffle(order)  # noqa: S311
    return order


def draw_stand_ins(
    blocked: Sequence[str], subset: Collection[str], rules: Mapping[str, AnswerRule], seed: int
) -> dict[str, str]:
    """What stands for each blocked sample of a subset: of the same stratum, not in the subset, and
    not blocked itself. One for which nothing is left stands for itself, as the worst value."""
    strata: dict[Stratum, list[str]] = defaultdict(list)
    for sample, rule in rules.items():
        strata[stratum_of(rule)].append(sample)
    spares = {
        stratum: (
            sample
            for sample in drawing_order(ids, stratum, seed)
            if sample not in subset and sample not in blocked
        )
        for stratum, ids in strata.items()
    }
    return {
        sample: spare
        for sample in blocked
        if sample in subset
        and sample in rules
        and (spare := next(spares[stratum_of(rules[sample])], ""))
    }


def expected_with_stand_ins(
    manifest: Manifest, expected: Sequence[str], rules: Mapping[str, AnswerRule]
) -> list[str]:
    """The samples that should have a file: those of the subset, or what was drawn for them."""
    if not manifest.blocked:
        return list(expected)
    subset = set(expected)
    drawn = draw_stand_ins(manifest.blocked, subset, rules, manifest.sampling.seed)
    blocked = set(manifest.blocked)
    return [item for item in expected if item not in blocked] + list(drawn.values())


def blocked_problems(
    manifest: Manifest, expected: Sequence[str], rules: Mapping[str, AnswerRule]
) -> Iterator[Problem]:
    """What is wrong with the list of blocked samples."""
    listed_ids = {file.sample for file in manifest.files}
    for number, sample in enumerate(manifest.blocked):
        where = f"manifest.blocked[{number}]"
        if sample not in rules or sample in manifest.blocked[:number]:
            message = f"{shown(sample)} is no sample of this suite, or stands here twice."
            yield Problem("E_ITEM_UNKNOWN", where, message, "List each blocked sample once.")
        elif sample in listed_ids:
            message = f"{shown(sample)} is blocked and has a file."
            yield Problem("E_ITEM_DUPLICATE", where, message, "Leave one of the two out.")
    most = ceil(MOST_BLOCKED * len(expected))
    if len(manifest.blocked) > most and not manifest.partial:
        message = f"{len(manifest.blocked)} samples are blocked; {most} may be replaced."
        hint = "Say partial: true (shown, never ranked), or hand the model in: then we see it."
        yield Problem("E_ITEM_MISSING", "manifest.blocked", message, hint)

"""Whether a question can be decided from what a judge is shown: one still, or eight frames of a
clip; and whether it asks one plain thing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluators.suites.tailor.bank import Bank, RubricItem, prompts_of
from evaluators.suites.tailor.soundness.expanded import ReadInstance, content_words, instances
from evaluators.suites.tailor.wording import BankFinding

BETWEEN_FRAMES = re.compile(
    r"\b(fast\w*|slow\w*|speed\w*|quick\w*|rapid\w*|swift\w*|sudden\w*|instant\w*|smooth motion"
    r"|smoothly|jerk\w*|abrupt\w*|moment|immediately|at once|briefly|bounc\w+|vibrat\w+"
    r"|trembl\w+|quiver\w*|shak(es?|ing)|flutter\w*|wobbl\w+|springs? back|rhythm\w*|times|twice"
    r"|again|repeated\w*|(each|every|first|second|third|last) (stroke|hit|blow|pass|pull|push"
    r"|swing|turn|press|tap)|pauses?|steady pace|accelerat\w+|without (a )?(jump|delay|pause)"
    r"|at the same time|simultaneous\w*|one by one)\b",
    re.IGNORECASE,
)
"""What eight frames of a clip do not show: speeds, counts of strokes, single moments."""
PROCESS = re.compile(
    r"\b(before|while|during|until|when|whenever|as soon as|then|throughout|clip|frames"
    r"|start to end|over time|begins?|starts?|stops?|gradually|as it (is|was)|movements?|moves?"
    r"|moving)\b",
    re.IGNORECASE,
)
"""What one still does not show."""
NEGATION = re.compile(
    r"\b(no|not|never|none|nothing|neither|nor|nowhere|nobody|without|lacks?|lacking|absent"
    r"|free (of|from)|rather than|instead of|\w+n't)\b",
    re.IGNORECASE,
)
JOINED = re.compile(r"\band\b", re.IGNORECASE)
PHRASES = re.compile(
    r"\b(to and fro|back and forth|up and down|left and right|in and out|over and over|black and "
    r"white|round and round|between [^?]*? and)\b",
    re.IGNORECASE,
)
EITHER = re.compile(r"\bor\b|\beither\b", re.IGNORECASE)
EMPTY = re.compile(
    r"\b(natural(ly)? (proportion|size)\w*|in proportion|realistic\w*|plausib\w+|believab\w+"
    r"|physically|correct\w*|proper\w*|as expected|coherent\w*|look (harder|softer) than)\b",
    re.IGNORECASE,
)


def frames_suffice(bank: Bank) -> Iterator[BankFinding]:
    """Questions on clips that eight frames cannot decide, and on pictures that one still cannot."""
    for instance in instances(bank):
        for item in _own(instance):
            modalities = {modality for _, modality in prompts_of(item)}
            place = f"{instance.where} {item.id}"
            if match := BETWEEN_FRAMES.search(item.text):
                yield BankFinding(
                    place, f"{match.group()!r} is not seen in eight frames: {item.text!r}"
                )
            if "image" in modalities and (match := PROCESS.search(item.text)):
                yield BankFinding(
                    place, f"{match.group()!r} is not seen in one still: {item.text!r}"
                )


def atomic(bank: Bank) -> Iterator[BankFinding]:
    """Questions that ask two things, with "and"."""
    for instance in instances(bank):
        for item in _own(instance):
            if JOINED.search(PHRASES.sub("", item.text)):
                yield BankFinding(
                    f"{instance.where} {item.id}", f"two things in one ('and'): {item.text!r}"
                )


def either(bank: Bank) -> Iterator[BankFinding]:
    """Questions that several things meet, with "or": sometimes right, often met by anything."""
    for instance in instances(bank):
        for item in _own(instance):
            if EITHER.search(item.text):
                yield BankFinding(
                    f"{instance.where} {item.id}", f"met by either of two: {item.text!r}"
                )


def positive(bank: Bank) -> Iterator[BankFinding]:
    """Questions worded by what is not there."""
    for instance in instances(bank):
        for item in _own(instance):
            if match := NEGATION.search(item.text):
                yield BankFinding(
                    f"{instance.where} {item.id}",
                    f"worded by what is not there ({match.group()!r}): {item.text!r}",
                )


def empty(bank: Bank) -> Iterator[BankFinding]:
    """Questions that every drawing of the thing meets."""
    for instance in instances(bank):
        for item in _own(instance):
            if match := EMPTY.search(item.text):
                yield BankFinding(
                    f"{instance.where} {item.id}",
                    f"almost any output meets it ({match.group()!r}): {item.text!r}",
                )


def beside_the_outcome(bank: Bank) -> Iterator[BankFinding]:
    """Questions on the change of state that share no word with goal, outcomes or tool: a detail of
    the scene, perhaps."""
    for instance in instances(bank):
        task, row = instance.task, instance.row
        texts = (task["task_goal"], task["expected_outcome"], row["expected_outcome"], row["tool"])
        outcome = content_words(" ".join(texts))
        for item in instance.items:
            if item.part == "state_change" and not content_words(item.text) & outcome:
                yield BankFinding(
                    f"{instance.where} {item.id}",
                    f"no word of goal, outcome or tool; a detail of the scene? {item.text!r}",
                )


def unstated(bank: Bank) -> Iterator[BankFinding]:
    """Questions on things and looks of which a prompt says less than half of the words."""
    for instance in instances(bank):
        for item in instance.items:
            words = content_words(item.text)
            silent = [
                "_".join(at)
                for at in prompts_of(item)
                if len(words & _prompt_words(instance, at)) * 2 < len(words)
            ]
            if item.part in ("entity", "attribute") and silent:
                yield BankFinding(
                    f"{instance.where} {item.id}",
                    f"is this asked for? {', '.join(silent)} say little of it: {item.text!r}",
                )


def _prompt_words(instance: ReadInstance, at: tuple[str, str]) -> frozenset[str]:
    return content_words(instance.row[f"{'_'.join(at)}_prompt"])


def _own(instance: ReadInstance) -> Iterator[RubricItem]:
    """The instance's questions; the task's only with its first instance, so that each is told
    once."""
    own = {row["id"] for row in instance.row["questions"]}
    for item in instance.items:
        if item.id in own or instance.row["index"] == 0:
            yield item

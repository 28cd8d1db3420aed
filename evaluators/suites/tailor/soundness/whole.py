"""Every check over a bank at once: what must be mended, and what a reader should look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluators.suites.tailor import checks
from evaluators.suites.tailor.bank import Bank
from evaluators.suites.tailor.soundness import (
    dependencies,
    repetition,
    seeing,
    text_rule,
    tools,
)
from evaluators.suites.tailor.wording import BankFinding

RUBRIC_CHECKS: tuple[checks.Check, ...] = (
    dependencies.parents,
    dependencies.rootless,
    dependencies.details,
    dependencies.attempts,
    dependencies.idle_scenes,
    repetition.asked_twice,
    seeing.frames_suffice,
    seeing.atomic,
    seeing.positive,
    seeing.empty,
    tools.attribute_tables,
)
"""What a bank of rubrics that measure has none of."""
HINTS: tuple[checks.Check, ...] = (seeing.either, seeing.beside_the_outcome, seeing.unstated)
"""What a reader should look at; it may be right as it stands."""


@dataclass(frozen=True, slots=True)
class BankReport:
    """What is wrong with a bank, and what a reader should look at."""

    faults: tuple[BankFinding, ...]
    hints: tuple[BankFinding, ...]

    def about(self, task_id: str) -> BankReport:
        """Only what concerns one task."""
        return BankReport(
            tuple(finding for finding in self.faults if _is_about(finding, task_id)),
            tuple(finding for finding in self.hints if _is_about(finding, task_id)),
        )


def report(bank: Bank, general: Callable[[Bank], tuple[BankFinding, ...]]) -> BankReport:
    """All findings; `general` are the checks on rows, counts and wording. Where those find rows
    that cannot be read, only these are told."""
    if unreadable := tuple(checks.unreadable(bank)):
        return BankReport(unreadable, ())
    faults = [*general(bank), *rubric_findings(bank), *telling_texts(bank)]
    hints = [finding for check in HINTS for finding in check(bank)]
    return BankReport(tuple(dict.fromkeys(faults)), (*hints, *telling_beyond_shuffling(bank)))


def rubric_findings(bank: Bank) -> Iterator[BankFinding]:
    """What keeps the rubrics from measuring."""
    for check in RUBRIC_CHECKS:
        yield from check(bank)


def telling_texts(bank: Bank) -> Iterator[BankFinding]:
    """Texts that tell the scenario by their words, in the bank as a whole."""
    for name, texts in text_rule.TEXTS.items():
        result = text_rule.rule(texts(bank))
        if result.tells:
            yield BankFinding(
                "bank",
                f"a rule on words tells the scenario from {name}: {result.accuracy:.0%} right, "
                f"{result.allowed:.0%} by chance; most telling: {', '.join(result.telling)}",
            )


def telling_beyond_shuffling(bank: Bank) -> Iterator[BankFinding]:
    """Texts whose words tell more than words do that mean nothing, in the bank as a whole."""
    for name, texts in text_rule.WATCHED.items():
        units = texts(bank)
        result, bound = text_rule.rule(units), text_rule.by_shuffling(units)
        if result.accuracy > bound:
            yield BankFinding(
                "bank",
                f"a rule on words tells the scenario from {name} more often than where scenarios "
                f"are shuffled within tasks: {result.accuracy:.1%} right, {bound:.1%} there; most "
                f"telling: {', '.join(result.telling)}",
            )


def _is_about(finding: BankFinding, task_id: str) -> bool:
    place = finding.where.split()[0]
    return place == task_id or place.startswith(f"{task_id}.") or f"/{task_id}.json" in place

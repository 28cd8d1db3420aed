"""Why each tool is what it is: a word on each attribute that the task requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluators.suites.tailor.bank import Bank
from evaluators.suites.tailor.soundness.expanded import ReadInstance, instances
from evaluators.suites.tailor.wording import BankFinding

FEWEST_WORDS = 2


def attribute_tables(bank: Bank) -> Iterator[BankFinding]:
    """Tools without a word on a required attribute, fit ones that lack it, and unfit ones that
    lack none."""
    for instance in instances(bank):
        yield from _table_faults(instance)


def _table_faults(instance: ReadInstance) -> Iterator[BankFinding]:
    table: Mapping[str, str] = instance.row.get("attributes", {})
    required = instance.task["required_tool_attributes"]
    for name in (name for name in required if name not in table):
        yield BankFinding(f"{instance.where} attributes", f"no word on {name!r}")
    for name, text in table.items():
        if name not in required:
            yield BankFinding(f"{instance.where} attributes", f"{name!r} is not required")
        elif not _is_verdict(text):
            yield BankFinding(
                f"{instance.where} attributes",
                f"{name!r}: write 'yes: why' or 'no: why', not {text!r}",
            )
    lacks = [name for name, text in table.items() if str(text).startswith("no")]
    if instance.impossible and len(table) >= len(required) and not lacks:
        yield BankFinding(
            f"{instance.where} attributes", "an impossible tool lacks at least one attribute"
        )
    if not instance.impossible and lacks:
        yield BankFinding(
            f"{instance.where} attributes", f"a tool that does the job has {lacks[0]!r}"
        )


def _is_verdict(text: object) -> bool:
    verdict, _, reason = str(text).partition(": ")
    return verdict in ("yes", "no") and len(reason.split()) >= FEWEST_WORDS

"""What a question hangs on: parents that exist and close no circle, details apart from the change
of state, and an attempt without which an idle scene would pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluators.suites.tailor.bank import PARTS, SCOPES, Bank, Row, RubricItem, is_detail
from evaluators.suites.tailor.soundness.expanded import (
    ADHERENCE,
    INTERACTION,
    ReadInstance,
    ancestors,
    instances,
)
from evaluators.suites.tailor.wording import BankFinding

KEYS = ("id", "part", "text", "parent", "for", "attempt")
IDLE_PASSES = 50.0
"""An interaction accuracy from which an output is no longer weak."""


def question_rows(bank: Bank) -> Iterator[BankFinding]:
    """Questions with an unknown key, part or scope, and instances that leave out what is not
    there."""
    for row in bank.tasks:
        yield from _row_faults(row["task_id"], row["questions"])
    tasks = {row["task_id"]: row for row in bank.tasks}
    for row in bank.instances:
        where = f"{row['task_id']}.{row['index']}"
        yield from _row_faults(where, row["questions"])
        shared = {question["id"] for question in tasks.get(row["task_id"], {}).get("questions", ())}
        for name in row.get("without", ()):
            if name not in shared:
                yield BankFinding(where, f"'without' names {name!r}, which the task does not ask")


def _row_faults(where: str, rows: Sequence[Row]) -> Iterator[BankFinding]:
    for row in rows:
        place = f"{where} {row['id']}"
        for key in row.keys() - set(KEYS):
            yield BankFinding(place, f"the key {key!r} is none of {', '.join(KEYS)}")
        if row["part"] not in PARTS:
            yield BankFinding(place, f"the part {row['part']!r} is none of {', '.join(PARTS)}")
        if row.get("for", "all") not in SCOPES:
            yield BankFinding(place, f"'for' is {row['for']!r}; right is one of {list(SCOPES)}")
        if type(row.get("attempt", False)) is not bool:
            yield BankFinding(place, "'attempt' is true or is left out")


def parents(bank: Bank) -> Iterator[BankFinding]:
    """Parents that a prompt of the child does not ask, and circles."""
    for instance in instances(bank):
        for at, items in instance.rubrics.items():
            yield from _parent_faults(f"{instance.where} {'_'.join(at)}", items)


def _parent_faults(where: str, items: Sequence[RubricItem]) -> Iterator[BankFinding]:
    by_id = {item.id: item for item in items}
    for item in items:
        if item.parent and item.parent not in by_id:
            yield BankFinding(
                where, f"the parent {item.parent!r} of {item.id!r} is not asked of this prompt"
            )
        chain = [item, *ancestors(item, by_id)]
        if chain[-1].parent in {link.id for link in chain}:
            yield BankFinding(where, f"the parents of {item.id!r} close a circle")


def rootless(bank: Bank) -> Iterator[BankFinding]:
    """Questions about a change, a use or a movement that hang on nothing: a yes about what is not
    there."""
    for instance in instances(bank):
        for item in instance.items:
            if item.part in INTERACTION and not item.parent:
                yield BankFinding(
                    f"{instance.where} {item.id}",
                    f"no parent; name the question that asks whether the thing is there: "
                    f"{item.text!r}",
                )


def details(bank: Bank) -> Iterator[BankFinding]:
    """What only one setting asks is a detail of its prompt, so no change, use or movement."""
    for instance in instances(bank):
        for item in instance.items:
            if item.part in INTERACTION and is_detail(item):
                yield BankFinding(
                    f"{instance.where} {item.id}",
                    f"asked for {item.scope!r} only, so a detail: its part is one of "
                    f"{', '.join(ADHERENCE)}",
                )


def attempts(bank: Bank) -> Iterator[BankFinding]:
    """Impossible instances with a prompt that nowhere asks for a trace of the attempt, or with a
    state that does not hang on it; and attempts marked elsewhere."""
    for instance in instances(bank):
        for at, items in instance.rubrics.items():
            yield from _attempt_faults(instance, at, items)


def _attempt_faults(
    instance: ReadInstance, at: tuple[str, str], items: Sequence[RubricItem]
) -> Iterator[BankFinding]:
    where, marked = f"{instance.where} {'_'.join(at)}", [item for item in items if item.attempt]
    if not instance.impossible:
        for item in marked:
            yield BankFinding(where, f"{item.id!r} is marked as an attempt; only impossible ones")
        return
    if not any(item.part in INTERACTION for item in marked):
        yield BankFinding(where, "no question on the interaction is marked `attempt`")
        return
    by_id = {item.id: item for item in items}
    for item in items:
        if item.part == "state_change" and not _rests_on_attempt(item, by_id):
            yield BankFinding(
                where, f"{item.id!r} does not hang on an attempt, so an idle scene meets it"
            )


def idle_scenes(bank: Bank) -> Iterator[BankFinding]:
    """Impossible prompts of which a scene passes that shows everything and in which nothing was
    tried."""
    for instance in instances(bank):
        if instance.impossible:
            for at, items in instance.rubrics.items():
                if (accuracy := idle_accuracy(items)) >= IDLE_PASSES:
                    yield BankFinding(
                        f"{instance.where} {'_'.join(at)}",
                        f"an idle scene gets an interaction accuracy of {accuracy:.0f}",
                    )


def idle_accuracy(items: Sequence[RubricItem]) -> float:
    """The interaction accuracy of a scene that meets everything but the attempts and what hangs on
    them.

    >>> touched = RubricItem("touched", "affordance", "Does mush stick to the twine?", attempt=True)
    >>> whole = RubricItem("whole", "state_change", "Is the twine whole?", parent="touched")
    >>> soft = RubricItem("soft", "affordance", "Does the fruit look soft?")
    >>> idle_accuracy([touched, whole, soft])
    25.0
    """
    by_id = {item.id: item for item in items}
    shares = []
    for part in INTERACTION:
        met = [not _rests_on_attempt(item, by_id) for item in items if item.part == part]
        shares += [100 * sum(met) / len(met)] if met else []
    return sum(shares) / len(shares) if shares else 0.0


def _rests_on_attempt(item: RubricItem, by_id: Mapping[str, RubricItem]) -> bool:
    return item.attempt or any(link.attempt for link in ancestors(item, by_id))

"""How far two readers of the same items agree, category by category, and what was settled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evaluators.statistics.agreement import cohen_kappa
from evaluators.suites.tailor.upkeep.records import (
    CATEGORIES,
    DECISIONS,
    MODEL,
    PERSON,
    WHO,
    ReviewRecord,
    prompts_of,
    settled_tasks,
)


@dataclass(frozen=True, slots=True)
class CategoryAgreement:
    """One category: prompts that two readers read, how many each called faulty, both at once, and
    Cohen's kappa; no kappa where nobody found anything."""

    category: str
    prompts: int
    first: int
    second: int
    both: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """The whole review: who read how much, agreement by category, and what became of the faults."""

    readers: Mapping[str, int]
    read_twice: int
    closed: int
    agreement: tuple[CategoryAgreement, ...]
    decisions: Mapping[str, Mapping[str, int]]


def by_kind_of_reader(reviews: Sequence[ReviewRecord]) -> dict[str, ReviewReport]:
    """Language models and people each by themselves, so that nobody's agreement is mixed with
    that of the other kind."""
    people = {record.reader for record in reviews if record.by == PERSON}
    kinds = [record.by or (PERSON if record.reader in people else MODEL) for record in reviews]
    return {
        who: report([record for record, kind in zip(reviews, kinds, strict=True) if kind == who])
        for who in WHO
    }


def report(reviews: Sequence[ReviewRecord]) -> ReviewReport:
    """What the records say, taken together."""
    readers: dict[str, set[str]] = defaultdict(set)
    for record in reviews:
        if record.kind == "read":
            readers[record.reader].add(record.task)
    decisions = {name: Counter[str]() for name in CATEGORIES}
    for record in reviews:
        if record.kind == "settled":
            decisions[record.category][record.decision] += 1
    pairs = _pairs(readers)
    faults = _faulty_prompts(reviews)
    return ReviewReport(
        readers={name: len(tasks) for name, tasks in sorted(readers.items())},
        read_twice=len({pair.task for pair in pairs}),
        closed=len(settled_tasks(reviews)),
        agreement=tuple(_agreement(name, pairs, faults) for name in CATEGORIES),
        decisions={
            name: {decision: count[decision] for decision in DECISIONS}
            for name, count in decisions.items()
        },
    )


@dataclass(frozen=True, slots=True)
class TwiceRead:
    """A task and two who have read it."""

    task: str
    first: str
    second: str


def _pairs(readers: Mapping[str, set[str]]) -> list[TwiceRead]:
    tasks = sorted(set().union(*readers.values())) if readers else []
    return [
        TwiceRead(task, first, second)
        for task in tasks
        for first, second in combinations(
            sorted(name for name, read in readers.items() if task in read), 2
        )
    ]


def _faulty_prompts(reviews: Sequence[ReviewRecord]) -> dict[tuple[str, str], set[str]]:
    """By reader and category, the prompts that he calls faulty."""
    faults: dict[tuple[str, str], set[str]] = defaultdict(set)
    for record in reviews:
        if record.kind == "fault":
            faults[record.reader, record.category].update(prompts_of(record.item))
    return faults


def _agreement(
    category: str, pairs: Sequence[TwiceRead], faults: Mapping[tuple[str, str], set[str]]
) -> CategoryAgreement:
    answers = [
        (
            prompt in faults.get((pair.first, category), ()),
            prompt in faults.get((pair.second, category), ()),
        )
        for pair in pairs
        for prompt in prompts_of(pair.task)
    ]
    labels = [["sound", "fault"][answer] for answer, _ in answers]
    others = [["sound", "fault"][answer] for _, answer in answers]
    kappa = cohen_kappa(labels, others, ("sound", "fault")).value if answers else None
    return CategoryAgreement(
        category,
        len(answers),
        labels.count("fault"),
        others.count("fault"),
        sum(first and second for first, second in answers),
        kappa,
    )

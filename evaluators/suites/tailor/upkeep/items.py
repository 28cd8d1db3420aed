"""What judged outputs say of the questions: how hard each is, whether it tells good entries from
bad ones, and which never vary, never count, or divide the judges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from scipy.stats import pearsonr

FEWEST_ANSWERS = 8
"""Below this many answers a question is not called anything."""
FEWEST_ENTRIES = 3
WRONG_WAY = -0.1
DIVIDED = 0.3
ALWAYS_FALLS = 0.99


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """A judge's answer to one question about one output of an entry; `fallen` if it did not count
    because its parent was not met."""

    instance: str
    question: str
    entry: str
    prompt: str
    judge: str
    met: bool
    fallen: bool


@dataclass(frozen=True, slots=True)
class ItemStatistic:
    """One question of one instance, over all entries and all prompts that ask it.

    `difficulty` is the share that does not meet it. `discrimination` is the correlation of meeting
    it with the share of all other questions that the entry meets. `disagreement` is the share of
    outputs seen by two judges on which they differ.
    """

    instance: str
    question: str
    n: int
    entries: int
    difficulty: float
    discrimination: float | None
    disagreement: float | None
    fallen: float
    flags: tuple[str, ...]


def statistics(answers: Sequence[ItemAnswer]) -> tuple[ItemStatistic, ...]:
    """Every question that was answered, the worst first."""
    met = _met_by_entry(answers)
    groups: dict[tuple[str, str], list[ItemAnswer]] = defaultdict(list)
    for answer in answers:
        groups[answer.instance, answer.question].append(answer)
    rows = [_statistic(group, met) for group in groups.values()]
    return tuple(sorted(rows, key=_badness))


@dataclass(frozen=True, slots=True)
class MetCount:
    """How many answers of an entry there are, and how many of them are met."""

    met: int
    n: int


def _met_by_entry(answers: Iterable[ItemAnswer]) -> dict[str, MetCount]:
    counts: dict[str, MetCount] = defaultdict(lambda: MetCount(0, 0))
    for answer in answers:
        count = counts[answer.entry]
        counts[answer.entry] = MetCount(count.met + answer.met, count.n + 1)
    return counts


def _statistic(group: Sequence[ItemAnswer], met: Mapping[str, MetCount]) -> ItemStatistic:
    first = group[0]
    share = fmean(answer.met for answer in group)
    fallen = fmean(answer.fallen for answer in group)
    discrimination, disagreement = _discrimination(group, met), _disagreement(group)
    return ItemStatistic(
        first.instance,
        first.question,
        len(group),
        len({answer.entry for answer in group}),
        1 - share,
        discrimination,
        disagreement,
        fallen,
        tuple(_flags(len(group), share, discrimination, disagreement, fallen)),
    )


def _discrimination(group: Sequence[ItemAnswer], met: Mapping[str, MetCount]) -> float | None:
    """Meeting the question against the rest of the entry; None without variance on either side."""
    own: dict[str, MetCount] = _met_by_entry(group)
    if len(own) < FEWEST_ENTRIES:
        return None
    rest = {
        entry: (met[entry].met - count.met) / max(met[entry].n - count.n, 1)
        for entry, count in own.items()
    }
    values = [float(answer.met) for answer in group]
    scores = [rest[answer.entry] for answer in group]
    if len(set(values)) < 2 or len(set(scores)) < 2:
        return None
    return float(pearsonr(values, scores).statistic)


def _disagreement(group: Sequence[ItemAnswer]) -> float | None:
    by_output: dict[tuple[str, str], list[ItemAnswer]] = defaultdict(list)
    for answer in group:
        by_output[answer.entry, answer.prompt].append(answer)
    pairs = [
        first.met != second.met
        for seen in by_output.values()
        for first, second in combinations(seen, 2)
        if first.judge != second.judge
    ]
    return fmean(pairs) if pairs else None


def _flags(
    n: int,
    share: float,
    discrimination: float | None,
    disagreement: float | None,
    fallen: float,
) -> Iterable[str]:
    if n < FEWEST_ANSWERS:
        return
    if fallen >= ALWAYS_FALLS:
        yield "never counts"
    elif share in (0.0, 1.0):
        yield "never varies"
    if discrimination is not None and discrimination < WRONG_WAY:
        yield "tells the wrong way"
    if disagreement is not None and disagreement > DIVIDED:
        yield "judges disagree"


def _badness(row: ItemStatistic) -> tuple[int, float, str, str]:
    told = 0.0 if row.discrimination is None else row.discrimination
    return (-len(row.flags), told, row.instance, row.question)

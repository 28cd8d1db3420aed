"""A fresh sample of prompts for a critical reading: drawn by a seed that nobody knew before, with
scenario, setting and modality in the bank's own shares."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scipy.stats import binomtest

from evaluators.contracts import Sample
from evaluators.statistics.agreement import cohen_kappa
from evaluators.suites.tailor.bank import DATA, Row


@dataclass(frozen=True, slots=True)
class SampleReading:
    """What readers found in a fresh sample: prompts with any fault, by category, those with a
    material one, and the 95 % interval (Wilson) of the latter's share in the bank's version at that
    time. Of those that were drawn the first or all were read. Readings of one name in `blind` were
    one: prompts of both banks in random order, without their versions. Where a third reader settled
    what two found, `settled` names the prompts whose material fault holds; it stands with either
    reading."""

    seed: str
    bank: str
    by: str
    prompts: int
    drawn: int
    faulty: tuple[str, ...]
    material: tuple[str, ...]
    categories: Mapping[str, int]
    blind: str = ""
    settled: tuple[str, ...] | None = None

    @property
    def interval(self) -> tuple[float, float]:
        return _wilson(len(self.material), self.prompts)


def readings() -> tuple[SampleReading, ...]:
    """The fresh samples of the open bank that were read, in their order."""
    lines = (DATA / "samples.jsonl").read_text("utf-8").splitlines()
    return tuple(_reading(json.loads(line)) for line in lines)


@dataclass(frozen=True, slots=True)
class SampleReadTwice:
    """What two readers, who did not see each other's notes, found in the same fresh sample: prompts
    with a material fault to both and to either, those that a third settled as such if one did, the
    95 % intervals (Wilson) of the shares to both and to the third, and kappa over all prompts."""

    seed: str
    bank: str
    prompts: int
    each: tuple[int, int]
    both: int
    either: int
    kappa: float | None
    settled: int | None = None

    @property
    def interval(self) -> tuple[float, float]:
        return _wilson(self.both, self.prompts)

    @property
    def settled_interval(self) -> tuple[float, float] | None:
        return None if self.settled is None else _wilson(self.settled, self.prompts)


def read_twice(found: Sequence[SampleReading]) -> tuple[SampleReadTwice, ...]:
    """The samples that two have read whole, in their order."""
    return tuple(
        _compared(first, second)
        for first, second in pairwise(found)
        if first.seed == second.seed and first.prompts == second.prompts
    )


def _compared(first: SampleReading, second: SampleReading) -> SampleReadTwice:
    one, other = set(first.material), set(second.material)
    sound = first.prompts - len(one | other)
    answers = [(item in one, item in other) for item in one | other] + [(False, False)] * sound
    labels = [[("sound", "fault")[answer[side]] for answer in answers] for side in (0, 1)]
    return SampleReadTwice(
        seed=first.seed,
        bank=first.bank,
        prompts=first.prompts,
        each=(len(one), len(other)),
        both=len(one & other),
        either=len(one | other),
        kappa=cohen_kappa(labels[0], labels[1], ("sound", "fault")).value,
        settled=_settled(first, second),
    )


def _settled(first: SampleReading, second: SampleReading) -> int | None:
    """How many prompts the third reader holds for faulty, of those that one of the two does."""
    named = [reading.settled for reading in (first, second) if reading.settled is not None]
    if not named:
        return None
    found, held = {*first.material, *second.material}, {item for items in named for item in items}
    if strange := sorted(held - found):
        raise ValueError(
            f"samples.jsonl settles {strange[0]} in sample {first.seed[:8]}, in which neither "
            "reader found a material fault. Take it out of `settled`, or add the reader's fault."
        )
    return len(held)


def _wilson(count: int, prompts: int) -> tuple[float, float]:
    bounds = binomtest(count, prompts).proportion_ci(method="wilson")
    return float(bounds.low), float(bounds.high)


def _reading(row: Row) -> SampleReading:
    faults = row["faults"]
    return SampleReading(
        seed=row["seed"],
        bank=row["bank"],
        by=row["by"],
        prompts=row["prompts"],
        drawn=row.get("drawn", row["prompts"]),
        faulty=tuple(sorted({fault["item"] for fault in faults})),
        material=tuple(sorted({fault["item"] for fault in faults if _is_material(fault)})),
        categories=Counter(fault["category"] for fault in faults),
        blind=row.get("blind", ""),
        settled=tuple(row["settled"]) if "settled" in row else None,
    )


def _is_material(fault: Row) -> bool:
    """Whether it can move a score that was earned. A repeated question, or one that anything on the
    topic meets, gives a point away, unless the reader says that a wrong output gets it for the
    outcome."""
    return bool(fault.get("material", fault["category"] not in ("duplicate", "trivial")))


def stratified(samples: Sequence[Sample], seed: str, count: int) -> tuple[Sample, ...]:
    """So many prompts, those with the smallest hash of seed and id in each stratum; in the bank's
    order. Strata take shares by size, the largest remainders first."""
    strata: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        facets = sample.facets
        strata[facets.scenario, facets.setting, facets.modality].append(sample)
    shares = {name: len(group) * count / len(samples) for name, group in strata.items()}
    quota = {name: int(share) for name, share in shares.items()}
    by_remainder = sorted(shares, key=lambda name: (quota[name] - shares[name], name))
    for name in by_remainder[: count - sum(quota.values())]:
        quota[name] += 1
    drawn = {
        sample.id
        for name, group in strata.items()
        for sample in sorted(group, key=lambda each: _place(seed, each.id))[: quota[name]]
    }
    return tuple(sample for sample in samples if sample.id in drawn)


def _place(seed: str, sample_id: str) -> str:
    return hashlib.sha256(f"{seed} {sample_id}".encode()).hexdigest()

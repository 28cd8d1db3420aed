"""The samples that a shard names: the suite's own, and an operator's private ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from evaluators.contracts import Sample, Suite
from evaluators.suites import suite_named


def samples_of(suite: Suite, sample_ids: Sequence[str], private: str) -> list[Sample]:
    """The samples of these ids, in their order; `private` is the folder of private banks, if there
    is one."""
    samples = {sample.id: sample for sample in suite.samples()}
    if private and not samples.keys() >= set(sample_ids):
        samples |= {sample.id: sample for sample in private_samples(suite.name, Path(private))}
    return [samples[sample_id] for sample_id in sample_ids]


@lru_cache(maxsize=4)
def private_samples(suite: str, folder: Path) -> tuple[Sample, ...]:
    """The private samples that an operator mounted for a suite, read and checked once a process."""
    read = suite_named(suite).private
    return read(folder / suite) if read and (folder / suite).is_dir() else ()

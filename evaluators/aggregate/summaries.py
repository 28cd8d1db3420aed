"""A run's part in a ranking: for each modality, its ranked cells with the influence of each
cluster."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluators.aggregate.addresses import Codes, Counts, codes_of
from evaluators.aggregate.columns import Column, Columns, columns, members, units
from evaluators.contracts import ALL, Facets, Sample, Score, Suite

FREE = ("scenario", "task", "setting")
"""Ranks are given where at most one of these is fixed: deeper, there are hardly tasks enough to
tell anybody apart."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A ranked cell: a metric at an address, and how many clusters of the samples lie there."""

    metric: str
    facets: Facets
    clusters: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A run's ranked cells of one modality (or `*`), in the order of the slots; None has no
    value."""

    modality: str
    samples_sha256: str
    n_samples: int
    slots: tuple[Slot, ...]
    columns: tuple[Column | None, ...]


def summaries(
    suite: Suite,
    samples: Sequence[Sample],
    scores: Sequence[Score],
    known_columns: Columns | None = None,
) -> tuple[Summary, ...]:
    """One summary over all samples and one a modality; runs are comparable where `samples_sha256`
    agrees.

    `known_columns` are the columns of these scores, where the caller has them.
    """
    run_columns = known_columns or columns(suite, samples, scores)
    unit, codes = units(suite, samples), codes_of(samples)
    modalities = dict.fromkeys(sample.facets.modality for sample in samples)
    return tuple(
        _summary(suite, samples, codes, unit, run_columns, modality)
        for modality in (ALL, *modalities)
    )


def _summary(
    suite: Suite,
    samples: Sequence[Sample],
    codes: Codes,
    unit: Counts,
    run_columns: Columns,
    modality: str,
) -> Summary:
    modality_samples = [sample for sample in samples if modality in (ALL, sample.facets.modality)]
    slots, summary_columns = [], []
    for facets in _addresses(modality, modality_samples):
        ids = np.unique(unit[members(codes, facets)])
        for metric in suite.metrics:
            slots.append(Slot(metric.name, facets, len(ids)))
            summary_columns.append(_spread(run_columns.get((metric.name, facets)), ids))
    return Summary(
        modality,
        _sha256(modality_samples),
        len(modality_samples),
        tuple(slots),
        tuple(summary_columns),
    )


def _addresses(modality: str, samples: Sequence[Sample]) -> Iterator[Facets]:
    whole = Facets(ALL, ALL, ALL, modality)
    yield whole
    for facet in FREE:
        for value in dict.fromkeys(getattr(sample.facets, facet) for sample in samples):
            yield replace(whole, **{facet: value})


def _spread(column: Column | None, ids: Counts) -> Column | None:
    """The column with a row for each cluster at its address, also those that add nothing."""
    if column is None:
        return None
    influence = np.zeros(len(ids))
    influence[np.searchsorted(ids, column.ids)] = column.influence
    return Column(column.value, ids, influence, column.clusters)


def _sha256(samples: Sequence[Sample]) -> str:
    named = [(sample.id, sample.cluster) for sample in samples]
    return hashlib.sha256(json.dumps(named, separators=(",", ":")).encode()).hexdigest()

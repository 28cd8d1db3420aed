"""What the importer has to know of a suite's samples to recognise files that others named."""

from __future__ import annotations

from evaluators.contracts import Suite
from submissions.importer import Item


def items(suite: Suite) -> list[Item]:
    """One item a sample: its place in the bank, its tool, its facets."""
    return [
        Item(
            sample.id,
            sample.cluster,
            int(sample.id.split(".")[1]),
            sample.facets.scenario,
            str(sample.reference["tool"]),
            sample.facets.setting,
            sample.facets.modality,
        )
        for sample in suite.samples()
    ]

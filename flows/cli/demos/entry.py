"""What entries of the demo have in common: their subset, and how they declare themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluators.contracts import Sample
from evaluators.suites import suite_named

SUBSET = "demo"


@dataclass(frozen=True, slots=True)
class DemoFacts:
    """What an entry is called, what it is, and how it was made."""

    name: str
    revision: str
    sampling: Mapping[str, Any]


def demo_samples(suite_name: str, modality: str) -> list[Sample]:
    """A suite's samples of one modality that the demo answers."""
    suite = suite_named(suite_name)
    return [
        sample
        for sample in suite.samples()
        if suite.subsets[SUBSET](sample) and sample.facets.modality == modality
    ]


def declaration_of(suite_name: str, modality: str, facts: DemoFacts) -> dict[str, Any]:
    """A manifest without files, which says that no trained model is behind it."""
    suite = suite_named(suite_name)
    return {
        "suite": suite.name,
        "suite_version": suite.version,
        "subset": SUBSET,
        "modalities": [modality],
        "team": "Armillary demo",
        "contact": "demo@localhost",
        "model": {
            "name": facts.name,
            "revision": facts.revision,
            "organisation": "Armillary demo",
            "licence": "CC0-1.0",
            "open_weights": True,
        },
        "disclosure": {
            "trained_on_suite_data": "no",
            "statement": "Made on the spot for the demo; not a trained model.",
        },
        "sampling": dict(facts.sampling),
    }

"""What the L-IVA supplement prints: facts about the study, and no figure of any method."""

from __future__ import annotations

from evaluators.contracts import Fact, Published
from evaluators.suites.figures import read_facts


def published() -> tuple[Published, ...]:
    """Nothing: the result tables are in the main paper, which we do not have."""
    return ()


def facts() -> tuple[Fact, ...]:
    """Sizes of the user study and the ranges of the metrics."""
    return read_facts("liva")

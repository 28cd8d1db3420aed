"""A study's own figures for every method, from its ratings alone: the outputs need not be on the
board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluators.contracts import RatedItem
from flows.studies.protocols import rating_of
from infra.tables.study import Study

Table = dict[str, dict[str, Any]]


def table_of(study: Study, ratings: Sequence[RatedItem]) -> Table:
    """The figures of every method by the study's protocol, from these ratings."""
    table = rating_of(study.protocol).table(ratings, study.seed)
    return {method: dict(figures) for method, figures in table.items()}

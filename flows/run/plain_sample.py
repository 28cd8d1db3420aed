"""A sample as plain values, for hashes and for what travels to a worker."""

from __future__ import annotations

from typing import Any

from evaluators.contracts import Sample
from infra.fields import fields_of


def plain(sample: Sample) -> dict[str, Any]:
    """A sample with all it is made of, ready to be written as JSON."""
    questions = [fields_of(question) for question in sample.questions]
    return {**fields_of(sample), "facets": fields_of(sample.facets), "questions": questions}

"""What makes two results comparable: one key from everything that could change a number."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from evaluators.contracts import Question, Sample, Suite
from flows.run.scoring_code import code_sha256
from infra.fields import fields_of


def board_key(suite: Suite, subset: str, judge: str) -> str:
    """The board an entry belongs to: suite and version, its items, the subset, the scorer, the
    judge."""
    parts = [suite.name, suite.version, items_sha256(suite), subset, suite.scorer_version, judge]
    return _sha256(parts)[:16]


_items_sha256: dict[str, str] = {}


def items_sha256(suite: Suite) -> str:
    """The hash of everything a suite asks: prompts, questions, references."""
    if suite.name not in _items_sha256:
        _items_sha256[suite.name] = _sha256([sample_fields(sample) for sample in suite.samples()])
    return _items_sha256[suite.name]


def sample_fields(sample: Sample) -> dict[str, Any]:
    """A sample with all it is made of, ready to be written as JSON, for a hash or a worker."""
    questions = [question_fields(question) for question in sample.questions]
    return {**fields_of(sample), "facets": fields_of(sample.facets), "questions": questions}


def question_fields(question: Question) -> dict[str, Any]:
    """A question as JSON; without a parent, as it was before questions could have one, so that
    their boards stay the same."""
    fields = fields_of(question)
    if not question.parent:
        del fields["parent"]
    return fields


@dataclass(frozen=True, slots=True)
class ScoringVersion:
    """What a run's numbers are computed with: the suite's samples and the code that scores them."""

    items_sha256: str
    code_sha256: str


def scoring_version(suite: Suite) -> ScoringVersion:
    """The samples and the code of this installation."""
    return ScoringVersion(items_sha256(suite), code_sha256(suite.name))


def _sha256(value: object) -> str:
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()

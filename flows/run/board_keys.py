"""What makes two results comparable: one key from everything that could change a number."""

from __future__ import annotations

import hashlib
import json

from evaluators.contracts import Suite
from flows.run.plain_sample import plain


def board_key(suite: Suite, subset: str, judge: str) -> str:
    """The board an entry belongs to: suite and version, its items, the subset, the scorer, the
    judge."""
    parts = [suite.name, suite.version, items_sha256(suite), subset, suite.scorer_version, judge]
    return _sha256(parts)[:16]


_known: dict[str, str] = {}


def items_sha256(suite: Suite) -> str:
    """The hash of everything a suite asks: prompts, questions, references."""
    if suite.name not in _known:
        _known[suite.name] = _sha256([plain(sample) for sample in suite.samples()])
    return _known[suite.name]


def _sha256(value: object) -> str:
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()

"""Keys of judges and judgements: they change as soon as anything changes that could change a
verdict.

A verdict is known by four things: the judge's fingerprint, the SHA-256 of the file, the key of the
question in its request, and which repeat it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from operator import attrgetter

from evaluators.contracts import JudgeCard, Question


def fingerprint(card: JudgeCard) -> str:
    """Sixteen hex digits over every field of the card except its note."""
    fields = asdict(card)
    del fields["note"]
    canonical = json.dumps(
        fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def request_key(prompt: str, modality: str, questions: Sequence[Question]) -> str:
    """The hash of all a judge is told about an output beside the output: the prompt and every
    question."""
    judge_input = [prompt, modality, list(map(_judge_visible, questions))]
    return hashlib.sha256(json.dumps(judge_input, sort_keys=True).encode()).hexdigest()


def _judge_visible(question: Question) -> tuple[object, ...]:
    fields: tuple[object, ...] = _judge_visible_fields(question)
    return (*fields, question.parent) if question.parent else fields


_judge_visible_fields = attrgetter("id", "text", "kind", "part", "options", "low", "high")
"""Everything a judge may see of a question. (asdict is a hundred times slower, and there are 30,000
of them.)"""

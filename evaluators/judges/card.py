"""What identifies a judge and a judgement: keys that miss as soon as anything changes that could change a verdict."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from evaluators.contracts import Json, JudgeCard, Question, Request


def fingerprint(card: JudgeCard) -> str:
    """Sixteen hex digits over every field of the card except its note."""
    fields = asdict(card)
    del fields["note"]
    return _sha256(fields)[:16]


def question_hash(question: Question, prompt: str = "") -> str:
    """The question with its menu, beside the description that the judge is shown with it."""
    return _sha256({"question": asdict(question), "prompt": prompt})


def request_key(card: JudgeCard, request: Request) -> str:
    """One call to one judge: the medium by its bytes, all questions in their order, and which repeat it is."""
    return _sha256({
        "judge": fingerprint(card), "media": request.media_sha256, "modality": request.modality,
        "questions": [question_hash(question, request.prompt) for question in request.questions],
        "repeat": request.repeat,
    })  # fmt: skip


def _sha256(fields: dict[str, Json]) -> str:
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()

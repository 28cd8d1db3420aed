"""What a language model is told in each step of the curation, and the version of every word of
it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from evaluators.judges.prompts import Message
from evaluators.judges.quoting import unmarked
from evaluators.suites.tailor.graph import Affordance

PROMPTS = files("evaluators.suites.tailor") / "prompts"
LONGEST_ECHO = 4000
EXCERPT = 24
"""Objects of the affordance graph that a prompt shows."""


def version(step: str) -> str:
    """The SHA-256 of every word that may be said in a step."""
    words = [_template(name).template for name in ("system", step, "retry")]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def messages(step: str, **values: object) -> list[Message]:
    """The conversation that opens a call."""
    return [
        {"role": "system", "content": _fill("system")},
        {"role": "user", "content": _fill(step, **values)},
    ]


def correction(reply: str, reason: str) -> list[Message]:
    """What follows a reply that cannot be used: the reply, and everything that is wrong with it."""
    return [
        {"role": "assistant", "content": unmarked(reply.strip()[-LONGEST_ECHO:]) or "(nothing)"},
        {"role": "user", "content": _fill("retry", reason=unmarked(reason))},
    ]


def record(values: Mapping[str, Any]) -> str:
    """Rows of ours as data in a prompt."""
    return unmarked(json.dumps(values, indent=1, ensure_ascii=False))


def lines(affordances: Iterable[Affordance]) -> str:
    """An excerpt of the graph, one object a line."""
    return unmarked("\n".join(f"- {affordance.line}" for affordance in affordances)) or "- (none)"


def _fill(name: str, **values: object) -> str:
    return _template(name).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((PROMPTS / f"{name}.txt").read_text("utf-8"))

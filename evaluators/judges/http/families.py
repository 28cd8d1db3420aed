"""What judges of a family need when nothing else is said: room to think, and no refused setting."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LimitName = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """Defaults for models whose name matches the pattern; the first that does is taken."""

    name: str
    pattern: str
    limit: int
    room: int
    deadline: float
    temperature: float | None
    limit_name: LimitName = "max_tokens"


FAMILIES = (
    ModelFamily(
        "openai-reasoning",
        r"(^|/)(gpt-[5-9]|o[1-9])",
        limit=32_768,
        room=128_000,
        deadline=900,
        temperature=None,
        limit_name="max_completion_tokens",
    ),
    ModelFamily("gemini-3", r"(^|/)gemini-[3-9]", 32_768, 65_535, 600, None),
    ModelFamily("gemini", r"(^|/)gemini-2\.5|(^|/)gemini-.*latest", 32_768, 65_535, 600, 0.0),
    ModelFamily("thinking", r"think|reason|(^|[/-])r1\b|qwq|qvq", 32_768, 65_536, 900, None),
    ModelFamily("plain", r"", 8_192, 32_768, 300, 0.0),
)
"""Thinking counts against the token limit of all but the last; some of them refuse a temperature,
or think in circles without one of their own."""


def family_of(model: str) -> ModelFamily:
    """The family of a model by its name.

    >>> family_of("google/gemini-2.5-pro").name, family_of("gpt-5-mini").name
    ('gemini', 'openai-reasoning')
    >>> family_of("gpt-4o").name, family_of("Qwen/Qwen3-VL-8B-Thinking").name
    ('plain', 'thinking')
    """
    return next(family for family in FAMILIES if re.search(family.pattern, model.lower()))

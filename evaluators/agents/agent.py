"""What a suite that runs an agent around a handed-in model is given: a vision-language model, a
journal, and limits per case."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from evaluators.agents.journal import Journal
from evaluators.judges.http.chat import Talker


@dataclass(frozen=True, slots=True)
class Agent:
    """The vision-language model behind the agent, what remembers finished calls and clips, and what
    a case may cost."""

    talker: Talker
    journal: Journal
    seconds: float = inf
    money: float = inf
    clip_price: float = 0.0

"""Everything that happened in one case, so that it can be looked at again step by step."""

from __future__ import annotations

from typing import Literal

from evaluators.suites.liva.agent.belief import Belief, StrictBelief
from evaluators.suites.liva.agent.replies import Reflection, Thought

Setting = Literal["closed_loop", "no_reflect", "open_loop", "single_clip"]
End = Literal[
    "completed",
    "failed_after_retries",
    "max_steps",
    "generator_error",
    "vlm_unusable",
    "budget",
    "deadline",
]
"""How a case ended. `vlm_unusable`: the vision-language model did not keep to the form, however
often it was told."""


class Call(StrictBelief):
    """One question to the vision-language model with every raw reply, the unusable ones too."""

    step: str
    asked_sha256: str
    replies: tuple[str, ...]
    problem: str
    tokens_in: int
    tokens_out: int
    cost: float
    seconds: float


class StoredClip(StrictBelief):
    """A clip in the store; `fitted` says how the frame it began with was brought to the model's
    size."""

    sha256: str
    frames: int
    fps: float
    width: int
    height: int
    seconds: float
    fitted: str = ""


class StepAttempt(StrictBelief):
    """One try at a step: the caption, the clip or why there is none, and the verdict on it."""

    number: int
    seed: int
    caption: str
    key_objects: tuple[str, ...]
    clip: StoredClip | None
    error: str
    verdict: Reflection | None
    accepted: bool
    calls: tuple[Call, ...]


class TraceStep(StrictBelief):
    """One step: what was believed before, what was planned, all attempts, and what is believed
    after."""

    index: int
    goal: str
    plan: Thought | None
    before: Belief | None
    attempts: tuple[StepAttempt, ...]
    after: Belief | None
    calls: tuple[Call, ...]

    @property
    def accepted(self) -> StepAttempt | None:
        """The attempt that was kept."""
        return next((attempt for attempt in self.attempts if attempt.accepted), None)


class CaseCost(StrictBelief):
    """What a case has cost so far."""

    vlm_calls: int = 0
    clips: int = 0
    money: float = 0.0
    seconds: float = 0.0


class Trace(StrictBelief):
    """A case from its first frame to its end."""

    case_id: str
    setting: Setting
    end: End
    reason: str
    vlm: str
    i2v: str
    prompts_sha256: str
    first: Belief | None
    opening: tuple[Call, ...]
    steps: tuple[TraceStep, ...]
    closing: tuple[Call, ...]
    spent: CaseCost

    @property
    def clips(self) -> tuple[StepAttempt, ...]:
        """What the final video is made of, in order."""
        return tuple(attempt for step in self.steps if (attempt := step.accepted))

    @property
    def attempts(self) -> tuple[StepAttempt, ...]:
        """Every clip that was filmed or tried."""
        return tuple(attempt for step in self.steps for attempt in step.attempts)

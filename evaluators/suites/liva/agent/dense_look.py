"""The dense look: accepted clips shown to the agent's own eyes again, in every frame instead of a
few.

It comes after the case has ended and changes nothing in it. Who accepted a clip from five frames
and rejects it from all of them missed what happened in between.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evaluators.media import sample_frames
from evaluators.suites.liva.agent import prompts
from evaluators.suites.liva.agent.episode import AgentEpisode, Ended
from evaluators.suites.liva.agent.replies import Reflection
from evaluators.suites.liva.agent.trace import StepAttempt, Trace, TraceStep

MOST_FRAMES = 32
"""Every frame of a short clip; of a longer one so many, evenly, the first and the last among
them."""


def dense_looks(course: AgentEpisode, trace: Trace) -> tuple[Reflection | None, ...]:
    """What the agent says of each accepted clip when it sees all of it; None where it had not
    looked before either, or gives no usable reply."""
    return tuple(_dense_look(course, step, step.accepted) for step in trace.steps if step.accepted)


def _dense_look(course: AgentEpisode, step: TraceStep, attempt: StepAttempt) -> Reflection | None:
    if attempt.verdict is None or attempt.clip is None or step.plan is None:
        return None
    return _asked(course, step, attempt, course.tools.journal.find(attempt.clip.sha256))


def _asked(
    course: AgentEpisode, step: TraceStep, attempt: StepAttempt, clip: Path
) -> Reflection | None:
    assert step.plan and attempt.clip
    count = min(attempt.clip.frames, MOST_FRAMES)
    frames = sample_frames(clip, f"uniform-{count}", "video")
    prompt = prompts.reflect(attempt.caption, step.plan.expected_state, frames)
    place = f"step-{step.index:02}/dense"
    try:
        return course.ask(place, replace(prompt, step="dense"))
    except Ended:
        return None

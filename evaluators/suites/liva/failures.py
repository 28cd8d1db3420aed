"""Why cases fail: the ends of runs, and signs in a trace of the four kinds of failure that the
paper names.

Signs are suspicions that a person should look at. What cannot be seen in a trace, a background
object taken for one in reach, has no sign here and is only ever a person's finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.suites.liva.agent.replies import Reflection
from evaluators.suites.liva.agent.trace import Trace, TraceStep

Kind = Literal[
    "temporal_information_loss",
    "no_3d_awareness",
    "weak_instruction_following",
    "object_permanence_or_hallucination",
]
SIDES: dict[Kind, Literal["vlm", "i2v"]] = {
    "temporal_information_loss": "vlm",
    "no_3d_awareness": "vlm",
    "weak_instruction_following": "i2v",
    "object_permanence_or_hallucination": "i2v",
}
"""Whose weakness each kind is: the vision-language model's or the video model's."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A sign of a failure: its kind, the step, and what was seen."""

    kind: Kind
    step: int
    sign: str


def suspects(trace: Trace, looks: Sequence[Reflection | None] = ()) -> tuple[Suspect, ...]:
    """What a trace gives away, and the dense looks at its accepted clips, in their order."""
    accepted = [step for step in trace.steps if step.accepted]
    missed = [_missed(step, look) for step, look in zip(accepted, looks, strict=False)]
    signs = [_gave_up(step) for step in trace.steps] + [_vanished(step) for step in trace.steps]
    return tuple(suspect for suspect in (*missed, *signs) if suspect)


def _missed(step: TraceStep, look: Reflection | None) -> Suspect | None:
    """The clip was accepted from a few frames and is rejected from all of them."""
    if look is None or look.success:
        return None
    sign = f"accepted from a few frames, rejected from all: {look.reason}"
    return Suspect("temporal_information_loss", step.index, sign[:200])


def distribution(signs: Sequence[Suspect]) -> dict[Kind, int]:
    """How often each kind is suspected; kinds without a sign are 0.

    >>> weak = "weak_instruction_following"
    >>> distribution([Suspect(weak, 0, "3 of 3")])[weak]
    1
    """
    counted = Counter(suspect.kind for suspect in signs)
    return {kind: counted[kind] for kind in SIDES}


def _gave_up(step: TraceStep) -> Suspect | None:
    """Every attempt was filmed, judged and rejected."""
    rejected = [
        attempt for attempt in step.attempts if attempt.verdict and not attempt.verdict.success
    ]
    if not rejected or len(rejected) < len(step.attempts):
        return None
    return Suspect(
        "weak_instruction_following",
        step.index,
        f"{len(rejected)} of {len(step.attempts)} rejected",
    )


def _vanished(step: TraceStep) -> Suspect | None:
    """A thing that was there before an accepted clip is gone after it, or one is there that was
    not."""
    if step.before is None or step.after is None or step.plan is None:
        return None
    before, after = set(step.before.interactive_objects), set(step.after.interactive_objects)
    planned = set(step.plan.expected_state.interactive_objects)
    lost, new = sorted((before - after) & planned), sorted(after - before - planned)
    if not lost and not new:
        return None
    sign = "; ".join(
        f"{word}: {', '.join(names[:3])}" for word, names in (("gone", lost), ("new", new)) if names
    )
    return Suspect("object_permanence_or_hallucination", step.index, sign[:200])

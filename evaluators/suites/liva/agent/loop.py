"""ORCA, the agent's loop: observe, think, act, reflect; and the same loop with parts switched off
as baselines."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from evaluators.agents.video_model import GeneratorFailed
from evaluators.suites.liva.agent import prompts
from evaluators.suites.liva.agent.belief import Belief, View, believed, planned, settled
from evaluators.suites.liva.agent.episode import (
    AgentEpisode,
    AgentOptions,
    Ended,
    JournaledClip,
    Tools,
)
from evaluators.suites.liva.agent.replies import Action, Reflection, Thought
from evaluators.suites.liva.agent.trace import Call, End, StepAttempt, Trace, TraceStep
from evaluators.suites.liva.cases.case import AvatarCase


@dataclass
class CaseRun:
    """A case as far as it has come."""

    course: AgentEpisode
    frame: Path
    first: Belief | None = None
    opening: tuple[Call, ...] = ()
    steps: list[TraceStep] = field(default_factory=list)

    @property
    def place(self) -> str:
        """Where the journal keeps the present step."""
        return f"step-{len(self.steps):02}"


def run_case(case: AvatarCase, tools: Tools, options: AgentOptions) -> Trace:
    """Take a case to its end, going on where an earlier run of the same work stopped.

    Only what is nobody's fault here is raised: a vision-language model that cannot be reached, a
    full disk.
    """
    run = CaseRun(AgentEpisode(case, tools, options), case.image_path)
    try:
        end, reason = _setting(run)
    except Ended as ended:
        end, reason = ended.end, ended.reason
    course = run.course
    return Trace(
        case_id=case.case_id,
        setting=options.setting,
        end=end,
        reason=reason,
        vlm=tools.vlm.name,
        i2v=tools.i2v.name,
        prompts_sha256=prompts.prompts_sha256(),
        first=run.first,
        opening=run.opening,
        steps=tuple(run.steps),
        closing=course.taken(),
        spent=course.spent,
    )


def _setting(run: CaseRun) -> tuple[End, str]:
    match run.course.options.setting:
        case "single_clip":
            return _single_clip(run)
        case "open_loop":
            return _open_loop(run)
        case _:
            return _closed_loop(run)


def _closed_loop(run: CaseRun) -> tuple[End, str]:
    """Think, try, look, until the checklist is done, steps fail in spite of new plans, or the steps
    are used up."""
    belief, expected, last = _begin(run), None, None
    options, failures = run.course.options, 0
    limit = options.steps_a_subgoal * len(run.course.case.subgoals)
    while True:
        thought = _think(run, belief, expected, last)
        belief = planned(belief, thought.checklist, thought.next_goal)
        if thought.done:
            return "completed", ""
        if len(run.steps) >= limit:
            return "max_steps", f"{limit} clips were filmed and the job is not done"
        step = _try(run, belief, thought)
        last = _said_of(step.attempts[-1])
        if step.after is not None:
            belief, expected, failures = step.after, thought.expected_state, 0
            continue
        belief, failures = settled(belief, step.goal, "failed"), failures + 1
        if failures > options.replans:
            return _end_of(step.attempts[-1])


def _open_loop(run: CaseRun) -> tuple[End, str]:
    """One plan at the start and all its captions, filmed one after the other without a look."""
    belief = _begin(run)
    course = run.course
    actions = course.ask(
        run.place, prompts.act_all(course.case.intention, belief, course.tools.i2v.profile)
    )
    limit = course.options.steps_a_subgoal * len(course.case.subgoals)
    for goal, action in zip(belief.task_checklist, actions.captions[:limit], strict=False):
        after = settled(belief, goal.goal, "done")
        _blind(run, goal.goal, action, belief, after)
        belief = after
    if len(actions.captions) > limit:
        return (
            "max_steps",
            f"the plan has {len(actions.captions)} goals; {limit} clips are the most",
        )
    return "completed", ""


def _single_clip(run: CaseRun) -> tuple[End, str]:
    """One clip from the intention as it stands."""
    intention = run.course.case.intention
    _blind(run, intention, Action(caption=intention, key_objects=()), None, None)
    return "completed", ""


def _begin(run: CaseRun) -> Belief:
    course = run.course
    initial = course.ask("start", prompts.init(course.case.intention, course.first_frame()))
    run.first = believed(initial, initial)
    run.opening = course.taken()
    return run.first


def _think(run: CaseRun, belief: Belief, expected: View | None, last: Reflection | None) -> Thought:
    course = run.course
    return course.ask(
        run.place,
        prompts.think(course.case.intention, belief, expected, last, course.tools.i2v.profile),
    )


def _said_of(attempt: StepAttempt) -> Reflection | None:
    """What thinking is told of a step's last attempt; one without a clip failed too."""
    if not attempt.error:
        return attempt.verdict
    reason = f"The video model made no clip: {attempt.error}"
    return Reflection(success=False, reason=reason, correction=None)


def _end_of(attempt: StepAttempt) -> tuple[End, str]:
    """How a case ends whose last step failed with this attempt."""
    if attempt.error:
        return "generator_error", attempt.error
    return "failed_after_retries", attempt.verdict.reason if attempt.verdict else ""


def _try(run: CaseRun, belief: Belief, thought: Thought) -> TraceStep:
    """All attempts at one step. A clip that was rejected is kept in the record; nothing is believed
    because of it."""
    course, thinking = run.course, run.course.taken()
    attempts: list[StepAttempt] = []
    goal = thought.next_goal or ""
    try:
        for number in range(1 + course.options.retries):
            attempt, clip = _attempt(run, belief, thought, number, _correction(attempts))
            attempts.append(attempt)
            if attempt.accepted and clip:
                after = _look(run, settled(belief, goal, "done"), clip.path)
                run.frame = course.next_frame(clip, run.place)
                return _step(run, goal, thought, belief, attempts, thinking, after)
    except Ended as ended:
        attempts += [ended.attempt] if ended.attempt else []
        _step(run, goal, thought, belief, attempts, thinking, None)
        raise
    return _step(run, goal, thought, belief, attempts, thinking, None)


def _attempt(
    run: CaseRun, belief: Belief, thought: Thought, number: int, correction: str | None
) -> tuple[StepAttempt, JournaledClip | None]:
    course, place = run.course, f"{run.place}/attempt-{number}"
    action = course.ask(
        place, prompts.act(thought.action_plan, belief, course.tools.i2v.profile, correction)
    )
    tried = _tried(run, action, number)
    try:
        clip = course.film(place, run.frame, action.caption, tried.seed)
    except GeneratorFailed as failed:
        return tried.model_copy(update={"error": str(failed), "calls": course.taken()}), None
    tried = tried.model_copy(update={"clip": clip.stored})
    try:
        verdict = _reflect(run, place, action, thought, clip.path)
    except Ended as ended:
        raise Ended(
            ended.end, ended.reason, tried.model_copy(update={"calls": course.taken()})
        ) from None
    accepted = verdict is None or verdict.success
    return tried.model_copy(
        update={"verdict": verdict, "accepted": accepted, "calls": course.taken()}
    ), clip


def _tried(run: CaseRun, action: Action, number: int) -> StepAttempt:
    """An attempt as recorded before its clip is filmed."""
    return StepAttempt(
        number=number,
        seed=seed_of(run.course, len(run.steps)) + number,
        caption=action.caption,
        key_objects=action.key_objects,
        clip=None,
        error="",
        verdict=None,
        accepted=False,
        calls=(),
    )


def _reflect(
    run: CaseRun, place: str, action: Action, thought: Thought, clip: Path
) -> Reflection | None:
    """The verdict on a clip; nobody asks for one where reflection is switched off."""
    if run.course.options.setting != "closed_loop":
        return None
    return run.course.ask(
        place, prompts.reflect(action.caption, thought.expected_state, run.course.looked_at(clip))
    )


def _look(run: CaseRun, belief: Belief, clip: Path) -> Belief:
    """The belief after an accepted clip."""
    view = run.course.ask(run.place, prompts.observe(belief, run.course.looked_at(clip)))
    return believed(belief, view)


def _blind(
    run: CaseRun, goal: str, action: Action, before: Belief | None, after: Belief | None
) -> None:
    """A step without reflection: whatever is filmed is accepted, and a model that films nothing is
    asked again with the next seed."""
    course, thinking = run.course, run.course.taken()
    attempts: list[StepAttempt] = []
    for number in range(1 + course.options.retries):
        tried, place = _tried(run, action, number), f"{run.place}/attempt-{number}"
        try:
            clip = course.film(place, run.frame, action.caption, tried.seed)
        except GeneratorFailed as failed:
            attempts.append(tried.model_copy(update={"error": str(failed)}))
            continue
        except Ended:
            if attempts:
                _step(run, goal, None, before, attempts, thinking, None)
            raise
        attempts.append(tried.model_copy(update={"clip": clip.stored, "accepted": True}))
        run.frame = course.next_frame(clip, run.place)
        _step(run, goal, None, before, attempts, thinking, after)
        return
    _step(run, goal, None, before, attempts, thinking, None)
    raise Ended("generator_error", attempts[-1].error)


def _step(
    run: CaseRun,
    goal: str,
    plan: Thought | None,
    before: Belief | None,
    attempts: list[StepAttempt],
    thinking: tuple[Call, ...],
    after: Belief | None,
) -> TraceStep:
    calls = (*thinking, *run.course.taken())
    step = TraceStep(
        index=len(run.steps),
        goal=goal,
        plan=plan,
        before=before,
        attempts=tuple(attempts),
        after=after,
        calls=calls,
    )
    run.steps.append(step)
    return step


def _correction(attempts: list[StepAttempt]) -> str | None:
    """What to say differently: the correction of the last verdict, or at least why it was
    rejected."""
    verdict = attempts[-1].verdict if attempts else None
    return (verdict.correction or verdict.reason) if verdict else None


def seed_of(course: AgentEpisode, step: int) -> int:
    """A step's first seed; the attempts after it count up from there."""
    identity = f"{course.options.seed}:{course.case.case_id}:{step}".encode()
    return int.from_bytes(hashlib.sha256(identity).digest()[:4]) >> 1

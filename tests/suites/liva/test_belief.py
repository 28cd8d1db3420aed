"""A belief keeps its form whatever happens to it, and only reads what is in form."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluators.judges.replies import BadReply
from evaluators.suites.liva.agent.belief import (
    AvatarState,
    Belief,
    Goal,
    ThingState,
    View,
    believed,
    planned,
    settled,
)
from evaluators.suites.liva.agent.replies import Init, Reflection, Thought, follows, fresh, read

words = st.text(
    st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=1, max_size=12
).filter(str.strip)
maybe = st.none() | words
views = st.builds(
    View,
    scene_description=maybe,
    interactive_objects=st.dictionaries(
        words, st.builds(ThingState, description=words, state=maybe), max_size=4
    ),
    avatar_state=st.builds(AvatarState, right_hand=maybe, left_hand=maybe),
)
statuses = st.sampled_from(["pending", "in_progress", "done", "failed"])
checklists = st.lists(words, min_size=1, max_size=5, unique=True).flatmap(
    lambda goals: st.tuples(
        *(st.builds(Goal, goal=st.just(goal), status=statuses) for goal in goals)
    )
)
beliefs = st.builds(
    lambda view, goals: believed(Belief(**dict(view), task_checklist=goals), view),
    view=views,
    goals=checklists,
)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("see"), views),
        st.tuples(st.just("plan"), statuses),
        st.tuples(st.just("settle"), statuses),
    ),
    min_size=10,
    max_size=10,
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(belief=beliefs, steps=changes, pick=st.integers(0, 4))
def test_a_thousand_random_updates_keep_the_schema_and_the_goals(
    belief: Belief, steps: list[tuple[str, object]], pick: int
) -> None:
    goals = [goal.goal for goal in belief.task_checklist]
    goal = goals[pick % len(goals)]

    for kind, value in steps:
        before = belief
        if isinstance(value, View):
            belief = believed(belief, value)
            assert belief.task_checklist == before.task_checklist and belief.view == value
        elif kind == "plan":
            belief = planned(belief, belief.task_checklist, goal)
            assert belief.view == before.view
        else:
            belief = settled(belief, goal, value)  # type: ignore[arg-type]
            assert belief.view == before.view

        assert Belief.model_validate_json(belief.model_dump_json()) == belief
        assert [one.goal for one in belief.task_checklist] == goals


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(view=views)
def test_what_is_written_in_form_is_read_back_as_it_was(view: View) -> None:
    assert read(f"<thinking>so {{}} so</thinking>\n{json.dumps(view.model_dump())}", View) == view


@pytest.mark.parametrize("key", ["scene_description", "interactive_objects", "avatar_state"])
def test_a_view_without_one_of_its_keys_is_refused(key: str) -> None:
    whole = {
        "scene_description": None,
        "interactive_objects": {},
        "avatar_state": {"right_hand": None, "left_hand": None},
    }
    del whole[key]

    with pytest.raises(BadReply, match=key):
        read(json.dumps(whole), View)


@pytest.mark.parametrize(
    "bad",
    [
        {"scene_description": 3},
        {"interactive_objects": []},
        {"interactive_objects": {"mug": {"description": "a mug"}}},
        {"interactive_objects": {"mug": "full"}},
        {"interactive_objects": {" ": {"description": "a", "state": None}}},
        {"avatar_state": {"right_hand": None}},
        {"avatar_state": None},
        {"avatar_state": {"right_hand": "a\u0000b", "left_hand": None}},
        {"task_checklist": [{"goal": "x", "status": "pending"}]},
    ],
)
def test_nothing_is_converted_and_nothing_is_guessed(bad: dict[str, object]) -> None:
    whole = {
        "scene_description": None,
        "interactive_objects": {},
        "avatar_state": {"right_hand": None, "left_hand": None},
    }

    with pytest.raises(BadReply):
        read(json.dumps({**whole, **bad}), View)


def test_a_first_checklist_has_begun_nothing() -> None:
    view = (
        '"scene_description": null, "interactive_objects": {}, '
        '"avatar_state": {"right_hand": null, "left_hand": null}'
    )

    goal = '{"goal": "a", "status": "pending"}'

    for listed in (goal.replace("pending", "done"), "", f"{goal}, {goal}"):
        with pytest.raises(BadReply, match="task_checklist"):
            read(f'{{{view}, "task_checklist": [{listed}]}}', Init, fresh)


def test_a_thought_that_forgets_a_goal_or_is_done_too_early_is_refused() -> None:
    hands = AvatarState(right_hand=None, left_hand=None)
    view = View(scene_description=None, interactive_objects={}, avatar_state=hands)
    goals = (Goal(goal="a", status="pending"), Goal(goal="b", status="pending"))
    belief = Belief(**dict(view), task_checklist=goals)

    def thought(**fields: object) -> Thought:
        told = {
            "discrepancy": None,
            "checklist": goals,
            "next_goal": "a",
            "action_plan": "do a",
            "expected_state": view,
        }
        return Thought.model_validate({**told, "done": False, **fields})

    check = follows(belief)
    check(thought())
    check(thought(checklist=(*goals, Goal(goal="c", status="pending")), next_goal="c"))
    for wrong in (
        thought(checklist=goals[:1]),
        thought(done=True),
        thought(next_goal=None),
        thought(next_goal="z"),
        thought(action_plan=" "),
        thought(checklist=(*goals, goals[0])),
    ):
        with pytest.raises(BadReply):
            check(wrong)


def test_a_reflection_needs_a_true_or_false_and_a_reason() -> None:
    whole = '{"success": true, "reason": "x", "correction": null}'
    assert read(whole, Reflection).success

    for old, new in (
        ("true", '"true"'),
        ("true", "1"),
        ('"x"', '" "'),
        (', "correction": null', ""),
    ):
        with pytest.raises(BadReply):
            read(whole.replace(old, new), Reflection)

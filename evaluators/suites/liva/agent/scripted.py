"""A scripted agent (a fixed rule, not a model): follows a case's own checklist and accepts clips by
their hash.

For tests and first steps where no vision-language model is at hand; what it makes says nothing
about one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from evaluators.judges.http.chat import ChatReply
from evaluators.judges.prompts import Message
from evaluators.suites.liva.bank import known_cases
from evaluators.suites.liva.cases.case import AvatarCase

CHECKLIST = re.compile(r'"task_checklist": (\[.*?\n \])', re.DOTALL)
REJECTED = 4
"""One clip in so many is rejected."""


class ScriptedTalker:
    """Knows cases by their intention, and the step by the form that is asked for."""

    name = "scripted agent (a fixed rule, not a model)"

    def say(self, messages: Sequence[Message]) -> ChatReply:
        """The reply that the rule gives."""
        text = "".join(part["text"] for part in _parts(messages) if "text" in part)
        return ChatReply(json.dumps(_reply(text, messages)))


def _reply(text: str, messages: Sequence[Message]) -> dict[str, Any]:
    case = next((case for case in known_cases() if json.dumps(case.intention) in text), None)
    if '"success": true or false' in text:
        first_byte = hashlib.sha256(json.dumps(_parts(messages)[-1]).encode()).digest()[0]
        good = first_byte % REJECTED > 0
        why = {"reason": "by rule", "correction": None if good else "show the whole movement"}
        return {"success": good, **why}
    if '"done": true or false' in text:
        return _thought(text)
    if '{"captions": [{' in text and case:
        return {
            "captions": [{"caption": words, "key_objects": []} for words in case.reference_prompts]
        }
    if '{"caption": text' in text:
        return {"caption": _caption(text), "key_objects": []}
    if '"task_checklist": [{"goal": text' in text and case:
        goals = [{"goal": goal, "status": "pending"} for goal in case.subgoals]
        return {**_view(case), "task_checklist": goals}
    return _view(None)


def _thought(text: str) -> dict[str, Any]:
    listed = CHECKLIST.search(text)
    goals: list[dict[str, str]] = json.loads(listed[1]) if listed else []
    following = next((goal["goal"] for goal in goals if goal["status"] != "done"), None)
    return {
        "discrepancy": None,
        "checklist": goals,
        "next_goal": following,
        "action_plan": following or "",
        "expected_state": _view(None),
        "done": following is None,
    }


def _caption(text: str) -> str:
    """The reference prompt of the goal that is planned."""
    for case in known_cases():
        for goal, prompt in zip(case.subgoals, case.reference_prompts, strict=True):
            if json.dumps(goal) in text:
                return prompt
    return "The person goes on."


def _view(case: AvatarCase | None) -> dict[str, Any]:
    inventory = case.objects if case else ()
    return {
        "scene_description": None,
        "interactive_objects": {
            item.id: {"description": item.description, "state": item.state} for item in inventory
        },
        "avatar_state": {"right_hand": None, "left_hand": None},
    }


def _parts(messages: Sequence[Message]) -> list[dict[str, Any]]:
    content: Any = messages[1]["content"]
    return list(content)

"""The six questions of the agent: what the vision-language model is told in each, and what it has
to reply."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Template
from typing import Generic, TypeVar

from evaluators.contracts import Json
from evaluators.judges.prompts import Message
from evaluators.judges.quoting import quoted, unmarked
from evaluators.judges.showing import data_url
from evaluators.media import Pixels
from evaluators.suites.liva.agent.belief import Belief, StrictBelief, View
from evaluators.suites.liva.agent.replies import (
    Action,
    Actions,
    Check,
    Init,
    Reflection,
    Thought,
    follows,
    fresh,
    one_each,
)

PROMPTS = files("evaluators.suites.liva") / "prompts"
NAMES = ("system", "init", "observe", "think", "act", "act_all", "reflect", "retry")
NOTHING = "(nothing yet)"
LONGEST_ECHO = 4000

S = TypeVar("S", bound=StrictBelief)


@dataclass(frozen=True)
class AgentPrompt(Generic[S]):
    """One question: its step, the messages, and how the reply is read."""

    step: str
    messages: tuple[Message, ...]
    schema: type[S]
    check: Check[S] | None = field(default=None)

    @property
    def sha256(self) -> str:
        """Every word and picture of it."""
        return hashlib.sha256(json.dumps(self.messages, sort_keys=True).encode()).hexdigest()


def prompts_sha256() -> str:
    """The hash of every word of ours that the agent may be told."""
    words = "\0".join(f"{name}\0{_template(name).template}" for name in NAMES)
    return hashlib.sha256(words.encode()).hexdigest()


def init(intention: str, picture: Pixels) -> AgentPrompt[Init]:
    """What is there, and how to get the job done."""
    return AgentPrompt(
        "init",
        _messages("init", picture[None], lossless=True, intention=quoted(intention)),
        Init,
        fresh,
    )


def observe(before: Belief, frames: Pixels) -> AgentPrompt[View]:
    """How the scene looks after an accepted clip."""
    return AgentPrompt(
        "observe", _messages("observe", frames, count=len(frames), belief=_state(before)), View
    )


def think(
    intention: str,
    belief: Belief,
    expected: View | None,
    last: Reflection | None,
    profile: str,
) -> AgentPrompt[Thought]:
    """What is off, and what comes next."""
    messages = _messages(
        "think",
        intention=quoted(intention),
        belief=_state(belief),
        expected=_state(expected) if expected else NOTHING,
        reflection=_state(last) if last else NOTHING,
        profile=profile,
    )
    return AgentPrompt("think", messages, Thought, follows(belief))


def act(plan: str, belief: Belief, profile: str, correction: str | None) -> AgentPrompt[Action]:
    """The caption for the next clip."""
    quoted_correction = quoted(correction) if correction else NOTHING
    messages = _messages(
        "act",
        plan=quoted(plan),
        belief=_state(belief.view),
        profile=profile,
        correction=quoted_correction,
    )
    return AgentPrompt("act", messages, Action)


def act_all(intention: str, belief: Belief, profile: str) -> AgentPrompt[Actions]:
    """All captions at once, before anything is filmed."""
    messages = _messages(
        "act_all", intention=quoted(intention), belief=_state(belief), profile=profile
    )
    return AgentPrompt("act_all", messages, Actions, one_each(len(belief.task_checklist)))


def reflect(caption: str, expected: View, frames: Pixels) -> AgentPrompt[Reflection]:
    """Whether a clip can be kept."""
    messages = _messages(
        "reflect", frames, count=len(frames), caption=quoted(caption), expected=_state(expected)
    )
    return AgentPrompt("reflect", messages, Reflection)


def correction(reply: str, reason: str) -> list[Message]:
    """What follows a reply that cannot be used: the reply, and what is wrong with it."""
    return [
        {"role": "assistant", "content": unmarked(reply.strip()[-LONGEST_ECHO:]) or "(nothing)"},
        {"role": "user", "content": _fill("retry", reason=unmarked(reason))},
    ]


def ask_of(
    name: str,
    schema: type[S],
    check: Check[S],
    values: Mapping[str, object],
    pictures: Pixels | None = None,
) -> AgentPrompt[S]:
    """A question of another kind, with words from its own template."""
    return AgentPrompt(name, _messages(name, pictures, lossless=True, **values), schema, check)


def _messages(
    step: str, pictures: Pixels | None = None, *, lossless: bool = False, **values: object
) -> tuple[Message, ...]:
    parts: list[Json] = [{"type": "text", "text": _fill(step, **values)}]
    parts += _image_parts(pictures, lossless) if pictures is not None else []
    return ({"role": "system", "content": _fill("system")}, {"role": "user", "content": parts})


def _image_parts(pictures: Sequence[Pixels] | Pixels, lossless: bool) -> list[Json]:
    return [
        {"type": "image_url", "image_url": {"url": data_url(pixels, lossless=lossless)}}
        for pixels in pictures
    ]


def _state(value: StrictBelief) -> str:
    """A value of ours as data that cannot spell a control token."""
    return unmarked(json.dumps(value.model_dump(mode="json"), indent=1, ensure_ascii=False))


def _fill(name: str, **values: object) -> str:
    return _template(name).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((PROMPTS / f"{name}.txt").read_text("utf-8"))

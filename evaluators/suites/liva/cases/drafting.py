"""Writing new cases with a model: from a photo and an intention, or goal first with a picture made
for it.

A model drafts, people decide (`Draft`), and only what they left standing becomes a case.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from evaluators.judges.http.chat import ChatReply, Talker
from evaluators.judges.quoting import quoted
from evaluators.judges.replies import BadReply
from evaluators.media import read_image
from evaluators.suites.liva.agent.belief import Line, StrictBelief, Text
from evaluators.suites.liva.agent.prompts import AgentPrompt, ask_of, correction
from evaluators.suites.liva.agent.replies import read
from evaluators.suites.liva.cases.case import AvatarCase, SceneObject, Source
from evaluators.suites.liva.cases.sidecar import CASE_ID, THING_ID

LEAST_STEPS, MOST_STEPS = 3, 8
ROUND_1, ROUND_2, ROUND_3 = 4, 7, 8
LONGEST_SCENARIO = 40
STANDING = ("kept", "edited")
REPAIRS = 2
YES, NO, NOWHERE = "yes", "no", "nowhere"
PICTURE = "picture_sha256"
"""The key of a draft's context under which the hash of its picture stands."""


class CannotDraft(ValueError):
    """New cases cannot be written; the message says what to change."""


class DraftedThing(StrictBelief):
    """A thing that can be seen in the picture."""

    id: Annotated[str, Field(pattern=THING_ID.pattern)]
    description: Text
    state: Line


class Way(StrictBelief):
    """One subgoal and the action that reaches it."""

    subgoal: Text
    prompt: Text


class Sketch(StrictBelief):
    """What a model sees in a picture, and the way to the intention."""

    objects: tuple[DraftedThing, ...] = Field(min_length=1, max_length=20)
    steps: tuple[Way, ...] = Field(min_length=LEAST_STEPS, max_length=MOST_STEPS)


class Idea(StrictBelief):
    """A job that can be done in one scene, and a description of that scene."""

    intention: Text
    needed: tuple[Text, ...] = Field(min_length=1, max_length=12)
    solvable: Text
    image_prompt: Text


class Ideas(StrictBelief):
    """Several jobs."""

    ideas: tuple[Idea, ...] = Field(min_length=1, max_length=40)


class SeenThing(StrictBelief):
    """Whether one thing of a sidecar can be seen in its picture, and where."""

    id: Annotated[str, Field(pattern=THING_ID.pattern)]
    visible: bool
    where: Line


class Inventory(StrictBelief):
    """What a model sees of a sidecar's things when it is shown the picture alone."""

    things: tuple[SeenThing, ...] = Field(min_length=1, max_length=20)


@dataclass(frozen=True, slots=True)
class Seed:
    """Where a case begins: its id, its picture, what the person wants, and whose picture it is."""

    case_id: str
    source: Source
    picture: Path
    intention: str
    license: str

    @property
    def scenario(self) -> str:
        """The scene family, from the id."""
        return self.case_id.partition("_case")[0]


@dataclass(frozen=True)
class CaseDraft:
    """One thing to decide about. Other words are another draft, so no decision is carried over to
    them."""

    step: int
    kind: str
    case_id: str
    field: str
    position: int
    payload: Mapping[str, Any]
    source: str
    context: Mapping[str, str]

    @property
    def key(self) -> str:
        """Its identity: place, words and what they are about."""
        identity = [self.step, self.case_id, self.field, self.position, self.payload, self.context]
        return hashlib.sha256(
            json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class CaseDecision:
    """What became of a draft (candidate, kept, edited or dropped), and its words after that."""

    status: str
    payload: Mapping[str, Any]


def ask_sketch(seed: Seed) -> AgentPrompt[Sketch]:
    """The inventory of a picture and the steps to an intention."""
    values: dict[str, object] = {
        "intention": quoted(seed.intention),
        "least": LEAST_STEPS,
        "most": MOST_STEPS,
    }
    return ask_of("draft_sketch", Sketch, _sound, values, read_image(seed.picture)[None])


def ask_inventory(seed: Seed, case: AvatarCase) -> AgentPrompt[Inventory]:
    """Whether the picture shows every thing that the finished sidecar names."""
    listed = "\n".join(
        f"- {item.id}: {quoted(f'{item.description}; {item.state}')}" for item in case.objects
    )
    picture = read_image(seed.picture)[None]
    return ask_of("draft_inventory", Inventory, _all_of(case), {"things": listed}, picture)


def ask_ideas(scenario: str, count: int, intentions: Sequence[str]) -> AgentPrompt[Ideas]:
    """Jobs for a scene family that are not there yet."""
    listed = "\n".join(f"- {quoted(intention)}" for intention in intentions) or "- (none)"
    values: dict[str, object] = {
        "scenario": quoted(scenario),
        "count": count,
        "known": listed,
        "most": MOST_STEPS,
    }
    return ask_of("draft_ideas", Ideas, _as_many(count), values)


def converse(
    talker: Talker, ask: AgentPrompt[Any]
) -> tuple[StrictBelief | None, list[ChatReply], str]:
    """A usable reply or None, everything that was said, and what was wrong with it in the end."""
    replies: list[ChatReply] = []
    reason, messages = "", list(ask.messages)
    for _ in range(1 + REPAIRS):
        replies.append(talker.say(messages))
        try:
            if replies[-1].problem:
                raise BadReply(replies[-1].problem)
            return read(replies[-1].text, ask.schema, ask.check), replies, ""
        except BadReply as bad:
            reason = str(bad)
            messages = [*ask.messages, *correction(replies[-1].text, reason)]
    return None, replies, reason


def drafts_of_idea(case_id: str, idea: Mapping[str, Any], source: str) -> list[CaseDraft]:
    """What people decide before a picture is made: is this one job, in one scene, and can it be
    done?"""
    payload = {name: idea[name] for name in ("intention", "needed", "solvable", "image_prompt")}
    return [CaseDraft(ROUND_1, "idea", case_id, "idea", 0, payload, source, {})]


def drafts_of_sketch(seed: Seed, sketch: Mapping[str, Any], source: str) -> list[CaseDraft]:
    """What people decide with the picture in front of them: each thing, and each subgoal with its
    prompt."""
    about = _about(seed)
    return [
        CaseDraft(ROUND_2, kind, seed.case_id, field, position, dict(row), source, about)
        for kind, field in (("thing", "objects"), ("way", "steps"))
        for position, row in enumerate(sketch[field])
    ]


def drafts_of_inventory(
    seed: Seed, case: AvatarCase, inventory: Mapping[str, Any], source: str
) -> list[CaseDraft]:
    """What people confirm at the end: whether the picture shows each thing of the sidecar."""
    descriptions = {item.id: f"{item.description}; {item.state}" for item in case.objects}
    return [
        CaseDraft(
            ROUND_3,
            "sight",
            seed.case_id,
            "inventory",
            position,
            {
                "id": row["id"],
                "visible": YES if row["visible"] else NO,
                "where": row["where"] or NOWHERE,
            },
            source,
            {**_about(seed), "thing": descriptions[row["id"]]},
        )
        for position, row in enumerate(inventory["things"])
    ]


def unseen(drafts: Sequence[CaseDraft], decided: Mapping[str, CaseDecision]) -> str:
    """Why a picture does not fit its sidecar, or not yet; empty where it shows everything."""
    decisions = [decided[draft.key] for draft in drafts]
    if waiting := sum(decision.status == "candidate" for decision in decisions):
        return f"{waiting} things wait for somebody to confirm that the picture shows them"
    missing = [
        str(decision.payload["id"])
        for decision in decisions
        if decision.status not in STANDING or decision.payload["visible"] != YES
    ]
    if not missing:
        return ""
    return (
        f"the picture does not show {', '.join(missing)}. Take another picture, or drop them from "
        "the sidecar"
    )


def settle(
    seed: Seed, drafts: Sequence[CaseDraft], decided: Mapping[str, CaseDecision]
) -> AvatarCase | str:
    """The case as people left it, or why it is not one yet."""
    decided_drafts = [(draft, decided[draft.key]) for draft in drafts]
    if waiting := sum(decision.status == "candidate" for _, decision in decided_drafts):
        return f"{waiting} drafts wait for a decision"
    standing = {
        field: [
            decision.payload
            for draft, decision in decided_drafts
            if draft.field == field and decision.status in STANDING
        ]
        for field in ("objects", "steps")
    }
    if not standing["objects"] or not standing["steps"]:
        return "nothing is left of its things or of its steps"
    return AvatarCase(
        case_id=seed.case_id,
        scenario=seed.scenario,
        source=seed.source,
        image=f"{seed.case_id}.png",
        intention=seed.intention,
        objects=tuple(
            SceneObject(str(o["id"]), str(o["description"]), str(o["state"]))
            for o in standing["objects"]
        ),
        subgoals=tuple(str(way["subgoal"]) for way in standing["steps"]),
        reference_prompts=tuple(str(way["prompt"]) for way in standing["steps"]),
        license=seed.license,
        folder=Path(),
    )


def check_scenario(scenario: str) -> None:
    """A scenario is the name of a scene family, the first part of its cases' ids."""
    if len(scenario) > LONGEST_SCENARIO or not CASE_ID.fullmatch(f"{scenario}_case101"):
        raise CannotDraft(
            f"{scenario[:LONGEST_SCENARIO]!r} names no scene family. Write small letters, as in "
            "kitchen or living_room."
        )


def check_id(case_id: str) -> None:
    """A case's id names its scene family."""
    if not CASE_ID.fullmatch(case_id):
        raise CannotDraft(
            f"The case id {case_id!r} is not right. Write the scenario and a number, as in "
            "kitchen_case14."
        )


def _about(seed: Seed) -> dict[str, str]:
    """What a reviewer has to know: the intention, and which picture."""
    return {
        "intention": seed.intention,
        "picture": seed.picture.name,
        PICTURE: hashlib.sha256(seed.picture.read_bytes()).hexdigest(),
    }


def _all_of(case: AvatarCase) -> Callable[[Inventory], None]:
    ids = [item.id for item in case.objects]

    def check(reply: Inventory) -> None:
        if sorted(thing.id for thing in reply.things) != sorted(ids):
            raise BadReply(f"things: name each of {', '.join(ids)} once")

    return check


def _sound(reply: Sketch) -> None:
    ids = [item.id for item in reply.objects]
    if len(set(ids)) < len(ids):
        raise BadReply("objects: an id is there twice")
    if len({way.subgoal for way in reply.steps}) < len(reply.steps):
        raise BadReply("steps: a subgoal is there twice")


def _as_many(count: int) -> Callable[[Ideas], None]:
    def check(reply: Ideas) -> None:
        if len(reply.ideas) != count:
            raise BadReply(f"ideas: there are {len(reply.ideas)}; write exactly {count}")

    return check

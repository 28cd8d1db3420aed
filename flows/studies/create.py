"""A human study from its making to its closing: items, blinded media, invitations, states."""

from __future__ import annotations

import hashlib
import json
import random
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlmodel import Session

from flows.studies.blinding import blinded, canvas_of
from flows.studies.protocols import form_for, rating_of
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from infra.store import Store, StoreError, open_store
from infra.tables.study import Study, StudyItem
from leaderboard.studies import running
from leaderboard.studies.forms import Form, Medium
from leaderboard.studies.quality import ExclusionRule
from leaderboard.studies.states import StudyError

CONSENT = (
    "You will look at pictures or clips made by computer models and answer questions about them. "
    "Your answers are kept "
    "under a pseudonym and may be published without anything that names you. You may stop at any "
    "time, and ask for "
    "your answers to be erased. No address and nothing about your browser is kept."
)
CONSENT_VERSION = "1"


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """What a study is to be."""

    id: str
    suite: str
    protocol: str
    title: str
    raters_per_item: int = 3
    session_items: int = 10
    minutes: int = 30
    seed: int = 0
    instructions: str = ""
    rule: ExclusionRule = field(default_factory=ExclusionRule)


def create(settings: Settings, plan: StudyPlan, items: Sequence[Mapping[str, Any]]) -> int:
    """Make a study in draft with its items and attention checks; the media are blinded now."""
    rating_of(plan.protocol)
    if not items:
        raise StudyError(
            "There is nothing to rate. Name submissions that are published, or a file of items."
        )
    store = open_store(settings.objects, settings.s3_endpoint)
    with session(settings.database) as db:
        if db.get(Study, plan.id):
            raise StudyError(f"There is a study {plan.id} already. Choose another id.")
        db.add(_row(db, plan))
        db.flush()
        whole = list(with_checks(plan, items))
        media, context = (_media(store, plan, whole, role) for role in ("media", "context"))
        rows = [
            _item(plan, number, item, media[number], context[number])
            for number, item in enumerate(whole)
        ]
        add_new(db, StudyItem, [row.model_dump() for row in rows])
        return len(rows)


def _row(db: Session, plan: StudyPlan) -> Study:
    suite = db.get(tables.Suite, plan.suite)
    if suite is None:
        raise StudyError(
            f"There is no suite {plan.suite!r}. Run `armillary init`, or choose another."
        )
    return Study(
        id=plan.id,
        suite=plan.suite,
        version=suite.version,
        protocol=plan.protocol,
        title=plan.title,
        state="draft",
        raters_per_item=plan.raters_per_item,
        session_items=plan.session_items,
        minutes=plan.minutes,
        seed=plan.seed,
        instructions=plan.instructions or rating_of(plan.protocol).guide,
        consent=CONSENT,
        consent_version=CONSENT_VERSION,
        rule=plan.rule.as_row(),
    )


def with_checks(plan: StudyPlan, items: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The items, and after every few one that only checks whether somebody reads."""
    dice = random.Random(plan.seed)  # noqa: S311
    real = [item for item in items if item.get("kind", "real") == "real"]
    interval = rating_of(plan.protocol).attention_each
    for number, item in enumerate(items, 1):
        yield item
        if number % interval == 0 and real:
            yield {**dice.choice(real), "kind": "attention", "expected": {}}


def _media(
    store: Store, plan: StudyPlan, items: Sequence[Mapping[str, Any]], role: str = "media"
) -> list[list[Medium]]:
    """The blinded media of every item, under their letters; what several items show is encoded
    once."""
    try:
        listed = [item[role] if role == "media" else item.get(role, ()) for item in items]
        keys = [[json.dumps(source, sort_keys=True) for source in sources] for sources in listed]
        sources = {
            key: source
            for item_sources, item_keys in zip(listed, keys, strict=True)
            for key, source in zip(item_keys, item_sources, strict=True)
        }
        canvas = canvas_of(rating_of(plan.protocol))
        blinded_media = dict(
            zip(sources, blinded(store, list(sources.values()), canvas), strict=True)
        )
    except KeyError as error:
        raise StudyError(
            f"An item of {plan.id} has no {error}. Mend the items and create again."
        ) from None
    except (OSError, StoreError) as error:
        why = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise StudyError(
            f"The media of {plan.id} cannot be used: {why}. Mend the items and create again."
        ) from None
    return [
        [
            Medium(letter, blinded_media[key].blob, blinded_media[key].media_type)
            for letter, key in zip("ABCD", item_keys, strict=False)
        ]
        for item_keys in keys
    ]


def _item(
    plan: StudyPlan,
    number: int,
    item: Mapping[str, Any],
    media: Sequence[Medium],
    context: Sequence[Medium],
) -> StudyItem:
    kind = str(item.get("kind", "real"))
    try:
        form = form_for(plan.protocol, item, media, context)
    except KeyError as error:
        raise StudyError(
            f"Item {number + 1} of {plan.id} has no {error}. Mend it and create again."
        ) from None
    expected = dict(item.get("expected", {}))
    if kind == "attention":
        form, expected = attention(form)
    seed = f"{secrets.token_hex(16)} {plan.id} {number}"
    return StudyItem(
        id=f"i-{hashlib.sha256(seed.encode()).hexdigest()[:24]}",
        study_id=plan.id,
        position=number,
        kind=kind,
        form=form.as_row(),
        behind={
            "subgoals": len(item.get("subgoals", ())),
            "parts": _parts(item),
            **item.get("behind", {}),
        },
        expected=expected,
    )


def _parts(item: Mapping[str, Any]) -> dict[str, str]:
    """The part of the rubric that each yes/no question belongs to, where it has one."""
    checklist = [question for question in item.get("questions", ()) if question["kind"] == "yes_no"]
    return {question["id"]: question["part"] for question in checklist if question.get("part")}


def attention(form: Form) -> tuple[Form, dict[str, str]]:
    """The same form with another text: somebody who reads it knows what to answer."""
    expected = {ask.id: ask.options[-1] for ask in form.asks if ask.kind in ("choice", "scale")}
    last_options = ", ".join(sorted(set(expected.values())))
    text = (
        "This item checks that you read. Whatever you see, give the last answer of every scale "
        f"({last_options})."
    )
    return replace(form, text=text), expected


def invite(
    settings: Settings,
    study_id: str,
    count: int,
    team: str = "",
    role: str = "primary",
    email: str = "",
) -> list[str]:
    """New raters of a study in draft; what is returned are their keys, shown once and kept
    nowhere."""
    with session(settings.database) as db:
        return running.invite(db, study_id, count, team, role, email)


def move(settings: Settings, study_id: str, to: str) -> None:
    """Bring a study to its next state; opening deals the items out."""
    with session(settings.database) as db:
        running.move(db, study_id, to)

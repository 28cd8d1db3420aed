"""The samples of a set of cases: each case in each loop, and what the judge is asked about a
clip."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import get_args

from evaluators.contracts import Facets, Json, Question, Sample
from evaluators.media import sha256_file
from evaluators.suites.liva.agent.trace import Setting
from evaluators.suites.liva.cases.case import AvatarCase
from evaluators.suites.liva.cases.folder import load, own

SETTINGS: tuple[Setting, ...] = get_args(Setting)
STEPS_A_SUBGOAL = 2
DEMO = ("kitchen_case04", "office_case05")
"""Two short cases: enough to see the whole path, too few to rank anybody by."""

ALIGNED = Question(
    id="af",
    text=(
        "Does the clip show the action that its description plans? Answer 1 if the main action can "
        "be seen, the "
        "things that matter are the right ones, and direction and place are roughly right. Answer "
        "0 if another action "
        "is shown, a wrong thing is used, the action or a decisive part of it is missing, or what "
        "is seen contradicts "
        "the physics of the description. Blur, a thing hidden for a moment, another word for the "
        "same thing and "
        "another pace are no reason for 0."
    ),
    kind="choice",
    options=("1", "0"),
)


PRIVATE = "private."
"""Ids of an operator's private samples begin so and stay on the server."""

_cases: dict[str, AvatarCase] = {}
"""Every case of which this process has made samples, by its id, picture and intention."""


@cache
def samples() -> tuple[Sample, ...]:
    """Every case of our own in every loop, loop by loop."""
    return samples_of(own())


def samples_of(cases: Sequence[AvatarCase], prefix: str = "") -> tuple[Sample, ...]:
    """Every case in every loop, loop by loop."""
    return tuple(_sample(case, setting, prefix) for setting in SETTINGS for case in cases)


def private_samples(folder: Path) -> tuple[Sample, ...]:
    """The cases that an operator keeps to himself, marked as private."""
    return samples_of(load(folder), PRIVATE)


def case_of(sample: Sample) -> AvatarCase:
    """The case that a sample was made of."""
    return _cases[_case_key(sample)]


def known_cases() -> tuple[AvatarCase, ...]:
    """Our own cases, and those of the banks that this process has read."""
    return tuple({case.case_id: case for case in (*own(), *_cases.values())}.values())


def most_clips(sample: Sample) -> int:
    """How many clips a case may have at most."""
    subgoals = sample.reference["subgoals"]
    assert isinstance(subgoals, list)
    return STEPS_A_SUBGOAL * len(subgoals)


def _sample(case: AvatarCase, setting: Setting, prefix: str) -> Sample:
    objects: list[Json] = [
        {"id": o.id, "description": o.description, "state": o.state} for o in case.objects
    ]
    reference: dict[str, Json] = {
        "subgoals": list(case.subgoals),
        "reference_prompts": list(case.reference_prompts),
        "objects": objects,
        "image": case.image,
        "image_sha256": sha256_file(case.image_path),
        "license": case.license,
    }
    facets = Facets(case.scenario, case.case_id, setting, "video")
    sample = Sample(
        f"{prefix}{case.case_id}.{setting}",
        facets,
        f"{prefix}{case.case_id}",
        case.intention,
        (ALIGNED,),
        reference,
    )
    _cases[_case_key(sample)] = case
    return sample


def _case_key(sample: Sample) -> str:
    return f"{sample.facets.task} {sample.reference['image_sha256']} {sample.prompt}"


def hand_out(sample: Sample, folder: Path) -> str:
    """Write the picture that a case starts from, once, and name it."""
    source = case_of(sample).image_path
    target = folder / f"{sample.cluster}{source.suffix}"
    if not target.exists():
        target.write_bytes(source.read_bytes())
    return target.name

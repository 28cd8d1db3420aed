"""The samples of L-IVA: each case in each loop, and what the judge is asked about a clip."""

from __future__ import annotations

from functools import cache
from typing import get_args

from evaluators.contracts import Facets, Json, Question, Sample
from evaluators.media import sha256_file
from evaluators.suites.liva.agent.trace import Setting
from evaluators.suites.liva.cases.case import AvatarCase
from evaluators.suites.liva.cases.folder import own

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


@cache
def samples() -> tuple[Sample, ...]:
    """Every case in every loop, loop by loop."""
    return tuple(_sample(case, setting) for setting in SETTINGS for case in own())


@cache
def case_of(case_id: str) -> AvatarCase:
    """A case of our own by its id."""
    return next(case for case in own() if case.case_id == case_id)


def most_clips(sample: Sample) -> int:
    """How many clips a case may have at most."""
    subgoals = sample.reference["subgoals"]
    assert isinstance(subgoals, list)
    return STEPS_A_SUBGOAL * len(subgoals)


def _sample(case: AvatarCase, setting: Setting) -> Sample:
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
    return Sample(
        f"{case.case_id}.{setting}", facets, case.case_id, case.intention, (ALIGNED,), reference
    )

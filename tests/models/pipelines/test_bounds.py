"""The bounds at the door against the families that run: whatever a pipeline does by itself is
taken, and the door knows what that is."""

from __future__ import annotations

from typing import Any

import pytest

from evaluators.models.generate.families import FAMILIES, PipelineFamily, Variant
from evaluators.models.generate.settings import signature_of
from submissions.bundle.sampling_bounds import FAMILY_BOUNDS, FAMILY_SIZE, OWN_SIZE
from submissions.bundle.sampling_bounds import sampling_problems as problems
from submissions.format.manifest import DeclaredSampling, Manifest

SAMPLING = ("steps", "height", "width", "frames")
NOTHING: dict[str, Any] = dict.fromkeys(SAMPLING)


def own(family: PipelineFamily) -> dict[str, Any]:
    """What the signature or the family's row says; None where a folder's configs do."""
    default = {name: value.default for name, value in signature_of(family.called).items()}
    height, width = default.get("height"), default.get("width")
    if height is None and "x" in family.size:
        height, width = map(int, family.size.split("x"))
    frames = default.get("num_frames") or (int(family.frames) if family.frames.isdigit() else None)
    steps = default["num_inference_steps"]
    return dict(zip(SAMPLING, (steps, height, width, frames), strict=True))


def of_variant(settings: dict[str, Any], variant: Variant) -> dict[str, Any]:
    """The same for the folders that a setting tells."""
    return {name: getattr(variant, name) or value for name, value in settings.items()}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda row: f"{row.pipeline}-{row.form}")
def test_what_a_pipeline_does_by_itself_is_taken_declared_or_not(family: PipelineFamily) -> None:
    known = FAMILY_SIZE.get(family.pipeline, OWN_SIZE[family.modality])
    base = own(family)

    for settings in (base, *(of_variant(base, variant) for variant in family.variants)):
        for declared in (settings, NOTHING, settings | {"height": None, "width": None}):
            fields: dict[str, Any] = {
                **{"kind": "model", "modalities": [family.modality]},
                "sampling": DeclaredSampling(seed=1, **declared),
            }
            manifest = Manifest.model_construct(**fields)
            assert list(problems(manifest, family.pipeline)) == []
        for name in ("height", "width", "frames"):
            assert (settings[name] or 0) <= getattr(known, name), name


def test_the_door_names_families_that_run_here() -> None:
    assert FAMILY_BOUNDS.keys() | FAMILY_SIZE.keys() <= {family.pipeline for family in FAMILIES}

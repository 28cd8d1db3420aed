"""What a handed-in pipeline wants of a machine, told from its configs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from flows.cli.doctor.finding import DoctorFinding
from flows.cli.terminal import fail

if TYPE_CHECKING:
    from evaluators.models.generate.families import PipelineFamily
    from evaluators.models.generate.settings import PipelineSettings

REMEDY = "Hand in a folder as save_pretrained() of diffusers wrote it."


def examine_model(folder: Path) -> list[DoctorFinding]:
    """What a pipeline's folder wants, from its configs alone: its forms, settings and memory."""
    from evaluators.models.generate.families import FORM_NAMES, families_of
    from evaluators.models.generate.memory_plan import plan_of
    from evaluators.models.generate.settings import DECLARED_NOTHING, settle

    try:
        families = families_of(folder)
        findings = [
            DoctorFinding(
                FORM_NAMES[family.form], "good", f"{family.called}: {_in_words(family, settled)}"
            )
            for family in families
            for settled in [settle(family, folder, DECLARED_NOTHING)]
        ]
        return [*findings, DoctorFinding("memory", "good", str(plan_of(folder, families[0])))]
    except (UnicodeDecodeError, json.JSONDecodeError, TypeError, AttributeError):
        fail(
            f"{folder}: its model_index.json or a config beside it is not JSON as diffusers "
            f"writes it. {REMEDY}"
        )
    except (ValueError, OSError) as error:
        return [DoctorFinding("model", "wrong", str(error), REMEDY)]


def _in_words(family: PipelineFamily, settings: PipelineSettings) -> str:
    clip = f", {settings.frames} frames at {settings.fps:g}" if family.modality == "video" else ""
    return (
        f"{settings.steps} steps, guidance {settings.guidance:g}, "
        f"{settings.width}x{settings.height}{clip} where the manifest leaves them out"
    )

"""The list of classes that the door reads by is the one that the installed libraries give."""

from __future__ import annotations

import pytest

from submissions.model_files.classes import rules
from submissions.model_files.dangerous_settings import ATTENTION, CACHES
from tests.submissions import make_model_rules


def test_the_stored_rules_are_what_the_installed_libraries_give() -> None:
    pytest.importorskip("diffusers")

    found = make_model_rules.as_text(make_model_rules.collect())

    stored = make_model_rules.RULES.read_text("utf-8")
    assert stored == found, "run: python -m tests.submissions.make_model_rules"


def test_every_pipeline_and_judge_that_runs_here_is_taken_and_no_part_is_a_pipeline() -> None:
    from evaluators.models.generate.diffusion import PIPELINES
    from evaluators.models.generate.image_to_video import PIPELINES as FILMING

    listed = rules()

    assert listed["pipelines"] == {*PIPELINES, *FILMING}
    assert not listed["pipelines"] & listed["other_pipelines"]
    assert not listed["parts"] & (listed["pipelines"] | listed["other_pipelines"])
    assert {"XLORA", "SHADOW", "PROMPT_TUNING"}.isdisjoint(listed["adapters"])


def test_caches_and_attention_that_need_no_kernel_are_those_of_the_library() -> None:
    generation = pytest.importorskip("transformers.generation.configuration_utils")

    assert {*generation.ALL_CACHE_IMPLEMENTATIONS, "paged"} == CACHES
    assert not {name for name in ATTENTION if "flash" in name or "/" in name}

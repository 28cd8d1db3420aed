"""The local judge and the generator are what the contracts ask for, and their examples in words are
true."""

from __future__ import annotations

import doctest
from pathlib import Path
from types import ModuleType

import pytest

from evaluators import media
from evaluators.contracts import Generator, Judge
from evaluators.models.generate.diffusion import DiffusionGenerator
from evaluators.models.vlm import menu
from evaluators.models.vlm.judge import VlmJudge
from evaluators.models.vlm.packed import decoder, packing


def test_the_judge_and_the_generator_keep_their_contracts(
    chat_vlm: Path, text_to_image: Path, tmp_path: Path
) -> None:
    judge: Judge = VlmJudge(chat_vlm)
    generator: Generator = DiffusionGenerator(text_to_image)

    assert list(judge.judge([])) == []
    assert list(generator.generate([], tmp_path)) == []


@pytest.mark.parametrize(
    "module", [media, packing, decoder, menu], ids=lambda module: module.__name__
)
def test_examples_in_docstrings_are_true(module: ModuleType) -> None:
    found = doctest.testmod(module)

    assert found.attempted > 0
    assert found.failed == 0

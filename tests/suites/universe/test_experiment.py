"""The experiment in small: one seed, one frame, a few steps. Characters are learned within them; actions need more."""

from __future__ import annotations

import pytest
import torch

from tests.bench.universe import QUICK, make, run


@pytest.mark.long
def test_adapting_a_judge_brings_characters_above_zero_shot() -> None:
    torch.set_num_threads(1)
    bench = make(QUICK)
    cell = "characters, open_ended"

    before, full = run(bench, "zero_shot", 0).cells, run(bench, "full", 0).cells
    again = run(bench, "full", 0, steps=5)

    assert full[cell] >= before[cell] + 30
    assert again.cells == run(bench, "full", 0, steps=5).cells

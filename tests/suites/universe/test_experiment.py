"""The experiment in small: one seed, one frame, a few steps, in which a projector learns characters."""

from __future__ import annotations

import pytest
import torch

from tests.bench.universe import QUICK, make, run


@pytest.mark.long
def test_adapting_a_judge_brings_characters_above_zero_shot() -> None:
    torch.set_num_threads(1)
    bench = make(QUICK)
    cell = "characters, open_ended"

    before, after = run(bench, "zero_shot", 0).cells, run(bench, "projector", 0).cells
    again = run(bench, "projector", 0, steps=5)

    assert after[cell] >= before[cell] + 30
    assert again.cells == run(bench, "projector", 0, steps=5).cells

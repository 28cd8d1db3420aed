"""The experiment in small, one seed: it runs, and the same seed gives the same cells."""

from __future__ import annotations

import pytest
import torch

from tests.bench.universe import CELLS, QUICK, Bench, Job, make, run


@pytest.fixture(scope="module")
def bench() -> Bench:
    torch.set_num_threads(1)
    return make(QUICK)


def test_the_base_has_not_learned_the_game(bench: Bench) -> None:
    before = run(bench, Job("zero_shot", frames=QUICK.frames)).cells

    assert set(before) == set(CELLS)
    assert before["actions, open_ended"] < 30 and before["characters, open_ended"] < 30


def test_a_few_steps_of_full_tuning_teach_the_words_of_the_game(bench: Bench) -> None:
    before = run(bench, Job("zero_shot", frames=QUICK.frames)).cells
    after = run(bench, Job("full", frames=QUICK.frames, steps=QUICK.steps)).cells

    assert sum(after.values()) > sum(before.values())


def test_the_same_seed_gives_the_same_cells(bench: Bench) -> None:
    short = Job("projector", frames=1, steps=5)

    assert run(bench, short).cells == run(bench, short).cells

"""The experiment in small, one seed: a projector learns new characters, and actions need frames
that lie apart."""

from __future__ import annotations

import pytest
import torch

from tests.bench.universe import QUICK, Bench, Job, make, run


@pytest.fixture(scope="module")
def bench() -> Bench:
    torch.set_num_threads(1)
    return make(QUICK)


def test_adapting_a_judge_brings_characters_above_zero_shot(bench: Bench) -> None:
    before = run(bench, Job("zero_shot", frames=QUICK.frames)).cells
    after = run(bench, Job("projector", frames=QUICK.frames, steps=QUICK.steps)).cells

    assert after["characters, open_ended"] >= before["characters, open_ended"] + 30
    assert after["actions, open_ended"] >= before["actions, open_ended"] - 10


def test_the_same_seed_gives_the_same_cells(bench: Bench) -> None:
    short = Job("projector", frames=1, steps=5)

    assert run(bench, short).cells == run(bench, short).cells


def test_two_frames_that_lie_apart_show_an_action_and_the_first_two_do_not(bench: Bench) -> None:
    apart = run(bench, Job("zero_shot", frames=2, policy="uniform_n")).cells
    first = run(bench, Job("zero_shot", frames=2, policy="first_n")).cells

    assert apart["actions, open_ended"] >= first["actions, open_ended"] + 15

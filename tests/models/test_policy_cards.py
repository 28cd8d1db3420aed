"""The card beside the shipped networks of the seven policies: it names each, and says of each what
the file and the lessons say."""

from __future__ import annotations

import math

import pytest
import torch
from safetensors import safe_open

from evaluators.media import sha256_file
from evaluators.models.robots.eyes import TableEyesConfig
from evaluators.models.robots.policies import SHIFT, ClonedPolicy, SeeingPolicy, load_policies
from evaluators.models.robots.roster import (
    BLURRED,
    FEW,
    HELD_OUT,
    JUDGED,
    LESSONS,
    PARTS,
    SHEETS,
)
from evaluators.models.robots.snapshots import SHEET
from evaluators.models.robots.weights import WEIGHTS, open_clone, open_eyes
from evaluators.worlds.tabletop.cards import CARDS, PolicyCard
from evaluators.worlds.tabletop.starts import BUSSING

TEXT = (WEIGHTS / "README.md").read_text("utf-8")
ROWS = {
    cells[0].strip("` "): [cell.strip("` ") for cell in cells[1:]]
    for line in TEXT.splitlines()
    if len(cells := line.strip("| ").split("|")) > 1
}
LEARNED = {
    "eyes": SHEETS - HELD_OUT,
    "annotator": (JUDGED - HELD_OUT) + (2 * JUDGED - HELD_OUT),
    "blurred": FEW - HELD_OUT,
    "clone": SHEETS - HELD_OUT,
    "clone_few": FEW - HELD_OUT,
}
"""Sheets of moments that each network learned from."""


def test_every_file_of_weights_has_a_row_and_no_other() -> None:
    files = {path.stem for path in WEIGHTS.glob("*.safetensors")}
    named = {name for name, cells in ROWS.items() if len(cells[-1]) == 64}

    assert files == named == set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_network_s_row_has_its_hash_its_size_and_its_lessons(part: str) -> None:
    path = WEIGHTS / f"{part}.safetensors"
    with safe_open(path, "pt") as file:
        numbers = sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    config = BLURRED if part == "blurred" else TableEyesConfig()
    lesson = LESSONS[part]

    assert ROWS[part][1:] == [
        str(config.pixels),
        f"{numbers:,}",
        f"{LEARNED[part] * SHEET:,}",
        f"{lesson.steps:,} of {lesson.batch}",
        sha256_file(path),
    ]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: str(card.id))
def test_each_of_the_seven_has_a_row_with_its_task_its_network_and_where_it_fails(
    card: PolicyCard,
) -> None:
    task, network, what, fails = ROWS[f"{card.id} {card.title}"]
    policy = load_policies()[card.id]

    assert task == ("bussing" if card.task == BUSSING else "swapped") and what and fails
    if isinstance(policy, ClonedPolicy):
        assert alike(policy.clone, open_clone(WEIGHTS, network))
    else:
        assert isinstance(policy, SeeingPolicy) and alike(policy.eyes, open_eyes(WEIGHTS, network))


def alike(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    """Whether two networks have the same numbers."""
    numbers = other.state_dict()
    return all(torch.equal(value, numbers[name]) for name, value in one.state_dict().items())


def test_how_far_the_badly_calibrated_one_is_off_and_what_the_annotator_saw_are_told() -> None:
    words = f"{SHIFT[0] * 100:.0f} cm and {-SHIFT[1] * 100:.0f} cm"

    assert f"{words} ({math.hypot(*SHIFT) * 100:.0f} cm in all)" in TEXT
    assert f"but for {(JUDGED - HELD_OUT) * SHEET:,} of the annotator's" in TEXT

"""Which token sees which, by hand on rows small enough to write down."""

from __future__ import annotations

import torch

from evaluators.models.vlm.packed.packing import PackedRow, TokenSegment, additive, pack, visible

QUESTION, OPTION, OTHER = TokenSegment((5, 6)), TokenSegment((7,), parent=1), TokenSegment((8, 9))


def test_segments_stand_at_the_positions_they_would_have_alone() -> None:
    packed = pack([PackedRow(3, (QUESTION, OPTION, OTHER))], pad=0)

    assert packed.tokens.tolist() == [[5, 6, 7, 8, 9]]
    assert packed.slots.position.tolist() == [[3, 4, 5, 3, 4]]
    assert packed.begins == ((0, 2, 3),)


def test_a_token_sees_its_ancestors_and_what_is_before_it_and_no_sibling() -> None:
    packed = pack([PackedRow(1, (QUESTION, OPTION, OTHER))], pad=0)

    seen = visible(packed.tables, packed.slots, packed.slots)[0].int()

    assert seen.tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 1, 1],
    ]


def test_every_token_sees_the_prefix_but_not_its_padding() -> None:
    packed = pack([PackedRow(3, (QUESTION,)), PackedRow(1, (OTHER,))], pad=0)

    seen = visible(packed.tables, packed.slots, packed.prefix).int()

    assert seen.tolist() == [[[1, 1, 1]] * 2, [[1, 0, 0]] * 2]


def test_a_segment_that_reads_both_ways_sees_what_is_after_it() -> None:
    packed = pack(
        [PackedRow(0, (TokenSegment((1, 2), both_ways=True), TokenSegment((3,), parent=1)))], pad=0
    )

    seen = visible(packed.tables, packed.slots, packed.slots)[0].int()

    assert seen.tolist() == [[1, 1, 0], [1, 1, 0], [1, 1, 1]]


def test_a_window_hides_what_is_too_far_behind_except_inside_a_both_way_block() -> None:
    packed = pack(
        [PackedRow(0, (TokenSegment((1, 2, 3), both_ways=True), TokenSegment((4,), parent=1)))],
        pad=0,
    )

    seen = visible(packed.tables, packed.slots, packed.slots, window=2)[0].int()

    assert seen.tolist() == [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]]


def test_padding_of_shorter_rows_is_seen_by_nobody() -> None:
    packed = pack([PackedRow(0, (QUESTION, OTHER)), PackedRow(0, (TokenSegment((4,)),))], pad=0)

    seen = visible(packed.tables, packed.slots, packed.slots)[1].int()

    assert packed.tokens.tolist()[1] == [4, 0, 0, 0]
    assert seen[0].tolist() == [1, 0, 0, 0]


def test_the_mask_is_added_and_hides_completely() -> None:
    mask = additive(torch.tensor([[[True, False]]]), torch.float32)

    assert mask.shape == (1, 1, 1, 2)
    assert torch.softmax(mask + 5, -1).tolist() == [[[[1.0, 0.0]]]]

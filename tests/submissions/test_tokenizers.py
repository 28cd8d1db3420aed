"""A SentencePiece tokenizer: walked to its end, whatever its bytes say of their own length."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from submissions.model_files.model_folder import _is_pieces
from tests.submissions.bad.models import model_bundle

PIECE = b"\x0a\x03abc"
NO_END = b"\x0a\x09" + b"x" * 9 + b"\x0a"
"""A piece of nine bytes, and the tag of another whose length is missing."""
PARTS = (b"\x0a", b"\x09", b"\x80", b"\xff", b"\x00", b"x" * 9, PIECE, b"\x0a\x80")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "data", [NO_END, b"\x0a", b"\x0a\x80", b"\x0a" + b"\xff" * 12, PIECE + b"\x80" * 11]
)
def test_a_tokenizer_whose_last_length_has_no_end_is_refused(
    data: bytes, rows: Catalogue, spot: Path
) -> None:
    with pytest.raises(IntakeError) as refused:
        check(model_bundle(spot, {"model/tokenizer.model": data}), rows)

    assert [problem.code for problem in refused.value.problems] == ["E_FORBIDDEN_TYPE"]


@pytest.mark.timeout(60)
def test_the_walk_ends_on_every_sequence_of_awkward_parts() -> None:
    sound = [
        data for parts in itertools.product(PARTS, repeat=5) if _is_pieces(data := b"".join(parts))
    ]  # fmt: skip

    assert PIECE * 5 in sound
    assert all(data.startswith(b"\x0a") for data in sound)


@pytest.mark.timeout(60)
def test_a_tokenizer_of_endless_empty_fields_is_refused() -> None:
    assert _is_pieces(b"\x0a\x00" * 1000)
    assert not _is_pieces(b"\x0a\x00" * (32 << 20))


def test_a_sound_tokenizer_passes(rows: Catalogue, spot: Path) -> None:
    bundle = model_bundle(spot, {"model/tokenizer.model": PIECE * 100 + b"\x12\x02ab"})

    assert check(bundle, rows).manifest.kind == "model"

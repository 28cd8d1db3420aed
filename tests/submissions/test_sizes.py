"""A picture of another size than the rest, or than the manifest says, does not pass in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from flows.cli.starter import new_entry, packed_folder
from flows.run.catalogue import from_code
from submissions.bundle.check import check
from submissions.bundle.sizes import size_warnings
from submissions.format.manifest import DeclaredSampling
from submissions.media.facts import MediaFacts
from tests.submissions.test_starter import facts, painted


def media(*sizes: tuple[int, int], kind: str = "image/png") -> dict[str, MediaFacts]:
    return {f"s{n}": MediaFacts(kind, *size, 1, None, False) for n, size in enumerate(sizes)}


@pytest.mark.parametrize(
    ("sizes", "stated", "odd"),
    [
        ([(64, 64)] * 5, {}, []),
        ([(64, 64)] * 5 + [(64, 48)], {}, ["s5"]),
        ([(64, 64)] * 3, {"width": 512, "height": 512}, ["s0", "s1", "s2"]),
        ([(64, 64), (64, 48), (32, 32)], {}, []),
        ([(64, 64)] * 3, {"width": 512}, []),
    ],
)
def test_what_is_odd_is_named(
    sizes: list[tuple[int, int]], stated: dict[str, int], odd: list[str]
) -> None:
    warnings = list(
        size_warnings(media(*sizes), DeclaredSampling.model_validate({"seed": 0, **stated}))
    )

    assert [warning.where for warning in warnings] == odd
    assert {warning.code for warning in warnings} <= {"W_SIZE"}


def test_the_check_of_a_folder_tells_the_sample_and_both_sizes(tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    new_entry(folder, facts("tailor"), "image")
    ids = painted(folder)
    declared = json.loads((folder / "manifest.json").read_text("utf-8"))
    declared["sampling"] |= {"width": 64, "height": 48}
    (folder / "manifest.json").write_text(json.dumps(declared), "utf-8")
    Image.effect_noise((32, 32), 90).convert("RGB").save(folder / "outputs" / f"{ids[0]}.png")

    (warning,) = check(packed_folder(folder, tmp_path / "e.zip").path, from_code()).warnings

    assert (warning.code, warning.where) == ("W_SIZE", ids[0])
    assert "32x32" in warning.message and "64x48" in warning.message

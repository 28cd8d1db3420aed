"""The bounds on sampling at the door: a bundle is held to those of the pipeline in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from tests.submissions.bad.case import Members, bundle
from tests.submissions.bad.models import ADAPTER, INDEX, folder

WIDE = {"seed": 1, "height": 4096, "width": 4096}


def painter(to: Path, pipeline: str, **more: bytes) -> Path:
    """A small model of a pipeline class that is to paint very large pictures."""
    index = json.dumps({**INDEX, "_class_name": pipeline}).encode()
    members: Members = {**folder(), "model/model_index.json": index, **more}
    listed: dict[str, tuple[str | None, bytes]] = {n: (None, data) for n, data in members.items()}
    return bundle(to, listed, kind="model", sampling=WIDE)


def codes(path: Path, rows: Catalogue) -> list[str]:
    with pytest.raises(IntakeError) as refused:
        check(path, rows)
    return [problem.code for problem in refused.value.problems]


def test_a_folder_is_held_to_the_bounds_of_its_pipeline(rows: Catalogue, spot: Path) -> None:
    assert check(painter(spot, "SanaPipeline"), rows).manifest.sampling.width == 4096
    assert codes(painter(spot, "StableDiffusionPipeline"), rows) == ["E_SAMPLING"]


def test_an_index_beside_an_adapter_widens_no_bounds(rows: Catalogue, spot: Path) -> None:
    adapter = {"model/adapter_config.json": json.dumps(ADAPTER).encode()}

    assert "E_SAMPLING" in codes(painter(spot, "SanaPipeline", **adapter), rows)


def test_an_index_that_cannot_be_read_is_told_once(rows: Catalogue, spot: Path) -> None:
    spoilt = {"model/model_index.json": b"{"}

    assert sorted(codes(painter(spot, "SanaPipeline", **spoilt), rows)) == [
        "E_CONFIG_JSON",
        "E_SAMPLING",
    ]

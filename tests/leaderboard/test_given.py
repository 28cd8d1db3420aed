"""What a model got to see stands beside its prompt and its output, in every suite that gives
something."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infra.db import session
from infra.settings import Settings
from leaderboard.panels import SampleView, input_picture
from leaderboard.queries import samples


@dataclass(frozen=True)
class Where:
    """As much of a run and of an item as a panel asks for here."""

    suite: str = ""
    media_sha256: str = "there"


def shown(suite: str, folder: Path, **record: Any) -> SampleView:
    def find(sha256: str) -> Path | None:
        return folder / sha256 if (folder / sha256).is_file() else None

    return SampleView(Where(suite), Where(), record, {}, find)  # type: ignore[arg-type]


def test_a_case_begins_with_its_first_frame(tmp_path: Path) -> None:
    (tmp_path / "first").write_bytes(b"a picture")

    seen = input_picture(shown("liva", tmp_path, first_frame="first"))

    assert seen is not None and seen.picture == str(tmp_path / "first")
    assert input_picture(shown("liva", tmp_path, first_frame="gone")) is None


def test_a_rollout_begins_with_its_three_views_side_by_side(tmp_path: Path) -> None:
    views = np.stack([np.full((2, 24, 24, 3), shade, np.uint8) for shade in (10, 20, 30)])
    with (tmp_path / "there").open("wb") as file:
        np.savez(file, views=views)

    seen = input_picture(shown("sc3", tmp_path))

    assert seen is not None and isinstance(seen.picture, np.ndarray)
    assert seen.picture.shape == (168, 3 * 168, 3)
    assert seen.picture[0, ::168, 0].tolist() == [10, 20, 30]


@pytest.mark.parametrize("suite", ["tailor", "no_such_suite"])
def test_a_prompt_alone_has_no_input(suite: str, tmp_path: Path) -> None:
    assert input_picture(shown(suite, tmp_path)) is None


def test_what_others_kept_with_a_sample_can_be_asked_for(board: Settings) -> None:
    with session(board.database) as db:
        run = samples.run_facts(db, "run-aurora-auto")
        assert run
        kept = samples.records(db, run, "cut_garden_twine.0.predictive.video")

    assert len(kept) > 1 and all(record == {"seed": 7} for record in kept if record)

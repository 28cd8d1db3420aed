"""Small random models of both kinds go from a folder to the board of a declared subset, never that
of the full bank."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.evaluate.door import receive
from infra.db import session
from infra.settings import Settings
from leaderboard.queries.ranking import BoardAddress, ranking
from submissions.bundle.pack import pack_model
from tests.bundles import declaration

PICTURE = {"seed": 7, "steps": 1, "guidance": 5.0, "height": 64, "width": 64}
CLIP = {"seed": 7, "steps": 1, "guidance": 5.0, "height": 32, "width": 32, "frames": 5, "fps": 8}


@pytest.mark.xdist_group("servers")
@pytest.mark.parametrize(("modality", "sampling"), [("image", PICTURE), ("video", CLIP)])
def test_a_small_random_model_reaches_the_board_of_its_subset(
    modality: str, sampling: dict[str, float], here: Settings, tmp_path: Path
) -> None:
    from evaluators.models import small
    from flows.evaluate.flow import run_here

    make = small.make_text_to_image if modality == "image" else small.make_text_to_video
    declared = declaration(modalities=[modality], sampling=sampling)
    bundle = pack_model(tmp_path / "bundle.zip", declared, make(tmp_path / "model"))

    done = run_here(receive(here, str(bundle), None, None).submission_id, here)

    with session(here.database) as db:
        (entry,) = (one for one in ranking(db, "tailor", None, BoardAddress()) if one.trust == "A")
    assert (done.state, done.made) == ("published", 30)
    assert (entry.subset, entry.n_scored, entry.n_expected, entry.rank) == ("demo", 30, 30, 1)

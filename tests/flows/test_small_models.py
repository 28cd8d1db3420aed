"""Small random models of both kinds go from a folder to the board of a declared subset, never that
of the full bank."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from flows.evaluate.door import receive
from infra.db import session
from infra.settings import Settings
from infra.tables import Output, Run
from infra.tables.findings import Flag
from leaderboard.queries.ranking import BoardAddress, ranking
from submissions.bundle.pack import pack_model
from submissions.teams.lifecycle import timeline
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


@pytest.mark.xdist_group("servers")
def test_an_entry_whose_model_ran_unfenced_says_so(
    here: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evaluators.models import small
    from flows.evaluate.flow import run_here

    monkeypatch.setenv("ARMILLARY_UNCONFINED", "yes")
    declared = declaration(modalities=["image"], sampling=PICTURE)
    folder = small.make_text_to_image(tmp_path / "model")
    bundle = pack_model(tmp_path / "bundle.zip", declared, folder)

    done = run_here(receive(here, str(bundle), None, None).submission_id, Settings())

    with session(here.database) as db:
        run = db.get_one(Run, done.run_id)
        flags = db.exec(select(Flag).where(Flag.kind == "unconfined")).all()
        events = [event.kind for event in timeline(db, done.submission_id)]
    assert "its model ran without network and files fenced" in run.why_not and run.eligible
    assert len(flags) == 30 and events.count("unconfined") == 1


@pytest.mark.xdist_group("servers")
def test_a_lora_with_its_base_in_the_manifest_reaches_the_board(
    here: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from safetensors.torch import save_file

    from evaluators.models import small
    from flows.evaluate.flow import run_here

    base = {"id": "somebody/small-base", "revision": "6" * 40}
    place = tmp_path / "shelf" / "somebody--small-base"
    place.mkdir(parents=True)
    small.make_text_to_image(place / base["revision"])
    layer = "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q"
    (tmp_path / "lora").mkdir()
    tensors = {
        f"unet.{layer}.lora_A.weight": torch.ones(2, 48),
        f"unet.{layer}.lora_B.weight": torch.ones(48, 2),
    }
    save_file(tensors, tmp_path / "lora" / "style.safetensors")
    declared = declaration(sampling=PICTURE, model={**declaration()["model"], "base": base})
    bundle = pack_model(tmp_path / "bundle.zip", declared, tmp_path / "lora")
    monkeypatch.setenv("ARMILLARY_SHELF", str(tmp_path / "shelf"))

    done = run_here(receive(here, str(bundle), None, None).submission_id, Settings(home=here.home))

    with session(here.database) as db:
        record = db.exec(select(Output.record).where(Output.outcome == "scored")).first()
    assert (done.state, done.made) == ("published", 30)
    assert record and (record["base"], record["base_revision"]) == (base["id"], base["revision"])

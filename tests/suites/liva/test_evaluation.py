"""L-IVA from the door to the board: a model inside the agent, and finished videos with their
steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlmodel import select

from evaluators.contracts import CannotProduce
from evaluators.media import write_mp4
from evaluators.models import small
from evaluators.models.generate import loading
from evaluators.suites.liva import SUITE
from flows.audit.verify import verify
from flows.evaluate.door import receive
from flows.evaluate.flow import run_steps
from flows.run.case import open_case
from infra import tables
from infra.db import session
from infra.settings import Settings
from infra.store import fetch_blob, open_store
from submissions.bundle.pack import pack_outputs
from submissions.intake.api_entry import enter
from tests.suites.liva.test_video_endpoint import Studio, served

DEMO = [sample for sample in SUITE.samples() if SUITE.subsets["demo"](sample)]


def declaration(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "suite": "liva",
        "suite_version": SUITE.version,
        "subset": "demo",
        "kind": "model",
        "modalities": ["video"],
        "team": "Test team",
        "contact": "test@localhost",
        "model": {
            "name": "Small I2V",
            "revision": "1",
            "organisation": "Test lab",
            "licence": "CC0-1.0",
            "open_weights": True,
        },
        "disclosure": {"trained_on_suite_data": "no", "statement": "Random weights."},
        "sampling": {
            "seed": 3,
            "steps": 1,
            "guidance": 1.0,
            "height": 32,
            "width": 32,
            "frames": 5,
            "fps": 8,
        },
        **changes,
    }


def evaluated(settings: Settings, submission: str) -> dict[str, tables.Output]:
    """Take a submission to the board, verify it, and return its outputs."""
    run_steps(open_case(settings, submission))
    assert verify(settings, submission).differences == ()
    return {row.sample_id: row for row in rows(settings, tables.Output)}


def rows(settings: Settings, table: Any) -> list[Any]:
    with session(settings.database) as db:
        found = list(db.exec(select(table)))
        db.expunge_all()
    return found


def everywhere(settings: Settings) -> dict[str, tables.Cell]:
    """The cells over everything, by metric."""
    facets = ("scenario", "task", "setting", "modality")
    found = rows(settings, tables.Cell)
    return {
        row.metric: row
        for row in found
        if row.source == "" and all(getattr(row, name) == "*" for name in facets)
    }


def test_a_small_video_model_is_run_inside_the_agent_and_stands_on_the_board(
    tmp_path: Path, ready: Settings
) -> None:
    model = small.make_image_to_video(tmp_path / "model")
    (tmp_path / "declaration.json").write_text(json.dumps(declaration()))

    handed = receive(ready, None, model, tmp_path / "declaration.json")
    loaded_here = dict(loading._loaded)
    kept = evaluated(ready, handed.submission_id)

    assert loading._loaded == loaded_here, "the model runs in a child, never beside the agent"
    closed, single = (
        kept["office_case05.closed_loop"].record,
        kept["office_case05.single_clip"].record,
    )
    assert set(kept) == {sample.id for sample in DEMO}
    assert len(single["clips"]) == 1 and single["tries"] == [1]
    assert closed["vlm"].startswith("scripted agent") and closed["end"] in (
        "completed",
        "failed_after_retries",
    )
    assert sum(closed["tries"]) == closed["spent"]["clips"] >= len(closed["clips"])
    clips = [clip["sha256"] for row in kept.values() for clip in row.record["clips"]]
    judged = {row.media_sha256 for row in rows(ready, tables.Verdict)}
    assert judged == set(clips), "every accepted clip, and nothing else"
    cells = everywhere(ready)
    assert cells["afs"].value is not None and cells["afs"].n_expected == len(clips)
    assert (cells["tsr"].value, cells["tsr"].why_empty) == (None, "no human study yet")
    assert cells["first_try"].value is not None
    shown = tmp_path / "trace.json"
    fetch_blob(open_store(ready.objects), closed["trace"], shown)
    assert json.loads(shown.read_text())["end"] == closed["end"]
    fetch_blob(open_store(ready.objects), closed["first_frame"], tmp_path / "first.png")


def test_a_video_model_behind_an_api_films_inside_the_agent(
    tmp_path: Path, ready: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (8, 32, 32, 3), dtype=np.uint8)
    studio = Studio(write_mp4(noise, tmp_path / "clip.mp4", 8).read_bytes(), states=["completed"])
    entry = declaration(kind="api", endpoint={"model": "filmer", "snapshot": "2026-11"})
    with served(studio) as there, session(ready.database) as db:
        monkeypatch.setenv("ARMILLARY_VIDEO_URL", there.endpoint.base_url)
        monkeypatch.setenv("ARMILLARY_VIDEO_KEY", "sk-very-secret")
        entered = enter(db, open_store(ready.objects), entry)
        db.commit()
        kept = evaluated(ready, entered.submission_id)

    assert {row.record["i2v"] for row in kept.values()} == {"filmer@2026-11, 1 seconds, 32x32"}
    assert len(studio.posts) == sum(row.record["spent"]["clips"] for row in kept.values())
    assert studio.keys == {"Bearer sk-very-secret"}
    assert everywhere(ready)["afs"].value is not None


def test_without_an_address_the_operator_is_told_what_to_set(ready: Settings) -> None:
    with session(ready.database) as db:
        entry = declaration(kind="api", endpoint={"model": "filmer", "snapshot": "2026-11"})
        entered = enter(db, open_store(ready.objects), entry)
        db.commit()

    with pytest.raises(CannotProduce, match="ARMILLARY_VIDEO_URL"):
        evaluated(ready, entered.submission_id)


def test_finished_videos_are_cut_at_their_steps_and_each_step_is_judged(
    tmp_path: Path, ready: Settings
) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (12, 32, 32, 3), dtype=np.uint8)
    files = {sample.id: write_mp4(noise, tmp_path / f"{sample.id}.mp4", 8) for sample in DEMO}
    steps = [
        {"caption": "The person pours.", "start": 0, "end": 5},
        {"caption": "The person stops.", "start": 5, "end": 12},
    ]
    first, second, third, fourth = (sample.id for sample in DEMO)
    told = {
        first: steps,
        second: [],
        third: [{"caption": "x", "start": 0, "end": 99}],
        fourth: steps[:1],
    }
    bundle = pack_outputs(tmp_path / "bundle.zip", declaration(kind="outputs"), files, steps=told)

    kept = evaluated(ready, receive(ready, str(bundle), None, None).submission_id)

    assert [clip["caption"] for clip in kept[first].record["clips"]] == [
        "The person pours.",
        "The person stops.",
    ]
    assert [clip["frames"] for clip in kept[first].record["clips"]] == [5, 7]
    assert [clip["caption"] for clip in kept[second].record["clips"]] == [DEMO[1].prompt], (
        "no steps: one clip of it all"
    )
    assert (
        kept[third].outcome == "output_invalid" and "between frame 0 and 12" in kept[third].reason
    )
    assert len(rows(ready, tables.Verdict)) == 2 + 1 + 1 - 1, (
        "the same clip with the same caption is judged once"
    )
    cells = everywhere(ready)
    assert cells["afs"].n_expected == 2 + 1 + 1 + 8, (
        "a case without a sound video weighs as much as it could"
    )
    assert "first_try" not in cells, "nobody knows how they were made"

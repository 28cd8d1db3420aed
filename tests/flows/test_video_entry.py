"""A text-to-video model behind an API goes from its entry to the board of TailOR: through a busy
and a broken endpoint, a lost answer, a moderated prompt, clips with sound, within its budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from evaluators.contracts import Outcome
from flows.run.case import Stopped
from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from infra.tables import Output, Run, Submission
from submissions.intake.api_entry import enter
from tests.bundles import declaration, demo_samples
from tests.models.video_server import serve

CLIPS = demo_samples("video")


@pytest.mark.parametrize("protocol", ["openai", "predictions"])
def test_a_video_model_behind_an_api_reaches_the_board(
    here: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    from flows.evaluate.flow import run_here

    busy, lost, moderated, broken = (sample.prompt for sample in CLIPS[:4])
    with serve(tmp_path) as server:
        set_up(monkeypatch, tmp_path, server.url, protocol)
        server.faults = {
            busy: ["busy", "broken"],
            lost: ["lost"],
            moderated: ["blocked!"],
            broken: ["job error"],
        }
        entry = entered(here)
        monkeypatch.setenv("ARMILLARY_API_BUDGET", "1")
        with pytest.raises(Stopped, match="budget of 1 is used up"):
            run_here(entry, Settings())
        with session(here.database) as db:
            assert db.get_one(Submission, entry).fault == "ours"
        monkeypatch.setenv("ARMILLARY_API_BUDGET", "1000")

        finished = run_here(entry, Settings())

    with session(here.database) as db:
        run = db.get_one(Run, finished.run_id)
        rows = list(db.exec(select(Output).where(Output.submission_id == entry)))
    outcomes = {row.sample_id: row.outcome for row in rows}
    assert finished.state == "published" and (run.n_expected or 0) >= len(CLIPS)
    assert outcomes[CLIPS[2].id] == Outcome.BLOCKED
    made = [row for row in rows if row.outcome == Outcome.SCORED]
    assert len(made) >= len(CLIPS) - 1
    assert all(row.record["sound"] == "dropped" for row in made)
    assert all(row.media_type == "video/mp4" for row in made)
    again = sum(post["prompt"] == lost for post in server.posts)
    assert again == 2 and sum(job.prompt == lost for job in server.jobs.values()) == 1


def set_up(monkeypatch: pytest.MonkeyPatch, folder: Path, url: str, protocol: str) -> None:
    prices = folder / "prices.toml"
    prices.write_text('["studio/filmer"]\nsecond = 0.1\n')
    for name, value in {
        "VIDEO_URL": url,
        "VIDEO_KEY": "sk-film",
        "VIDEO_PROTOCOL": protocol,
        "VIDEO_PAUSE": "0.01",
        "API_PRICES": str(prices),
    }.items():
        monkeypatch.setenv(f"ARMILLARY_{name}", value)


def entered(here: Settings) -> str:
    declared = declaration(
        kind="api",
        modalities=["video"],
        endpoint={"model": "studio/filmer", "snapshot": "2026-11"},
    )
    with session(here.database) as db:
        return enter(db, open_store(here.objects), declared).submission_id

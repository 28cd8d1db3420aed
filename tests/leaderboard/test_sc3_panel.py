"""SC3's rollouts on the Samples page: beside the real one and other entries, in step, with U, tau
and four frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluators.contracts import Outcome, Output, Sample
from evaluators.contracts.world_model import World
from evaluators.judges.card import fingerprint
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.producing import Rollouts
from evaluators.suites.sc3.reading import card
from evaluators.suites.sc3.real import real_rollout
from evaluators.suites.sc3.rollouts.trajectories import from_bytes
from evaluators.suites.sc3.scoring import score
from evaluators.worlds.tabletop.blind import frozen, grey
from flows.run.catalogue import judge_row
from flows.workers.outputs import store_generated, trajectory_reader
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from infra.store import blob_key, open_store, put_blob
from leaderboard.panels.sc3 import moments, trace
from leaderboard.widgets.thumbnails import thumbnail
from tests.leaderboard.pages import opened, words_of

SAMPLE = next(one for one in SUITE.samples() if one.facets.setting == "online")
STOPPED = {"u_chunk": [0.01, 0.03], "terminated_at": 1, "tau": 0.02, "action_space": "normalised"}


def enter(settings: Settings, model: str, world: World, **said: Any) -> str:
    """One rollout of an entry, kept as the flow keeps it; `said` is put into what was read of
    it."""
    store = open_store(settings.objects)
    settings.work.mkdir(parents=True, exist_ok=True)
    [made] = Rollouts(world).generate([SAMPLE], settings.work)
    output = store_generated(made, "trajectory", store, trajectory_reader(SUITE, SAMPLE, store))
    kept = output.as_json()
    kept["record"]["value"] |= said
    with session(settings.database) as db:
        add_new(db, tables.Judge, [judge_row(card())])
        add_new(db, tables.Submission, [submission(model).model_dump()])
        add_new(db, tables.Output, [{"submission_id": f"sub-{model}", **kept}])
        add_new(db, tables.Run, [run(model).model_dump()])
        add_new(db, tables.Score, scores(model, SAMPLE, kept["record"]))
    return str(kept["record"]["real"])


def submission(model: str) -> tables.Submission:
    place: dict[str, Any] = {"suite": "sc3", "suite_version": SUITE.version, "subset": "demo"}
    who: dict[str, Any] = {
        "team": model,
        "model": model,
        "organisation": "",
        "kind": "outputs",
        "trust": "B",
    }
    moment: dict[str, Any] = {"created_at": tables.now(), "updated_at": tables.now()}
    kept: dict[str, Any] = {"state": "published", "bundle_sha256": model, "manifest": {}}
    return tables.Submission(id=f"sub-{model}", **place, **who, **moment, **kept)


def run(model: str) -> tables.Run:
    whose: dict[str, Any] = {
        "submission_id": f"sub-{model}",
        "judge": fingerprint(card()),
        "board": "b",
    }
    place: dict[str, Any] = {
        "suite": "sc3",
        "suite_version": SUITE.version,
        "scorer_version": "1",
        "subset": "demo",
    }
    moment: dict[str, Any] = {"created_at": tables.now(), "published_at": tables.now()}
    return tables.Run(
        id=f"run-{model}", state="published", eligible=True, why_not="", **whose, **place, **moment
    )


def scores(model: str, sample: Sample, record: dict[str, Any]) -> list[dict[str, Any]]:
    made = score(sample, Output(sample.id, Outcome.SCORED, record=record), {})
    return [
        {
            "run_id": f"run-{model}",
            "sample_id": one.sample_id,
            "metric": one.metric,
            "outcome": one.outcome,
        }
        | {"value": one.value, "detail": dict(one.detail)}
        for one in made
    ]


def looked_at(model: str) -> AppTest:
    page = opened("samples", run=f"run-{model}", sample=SAMPLE.id)
    assert not page.exception
    return page


def heads(page: AppTest) -> list[str]:
    """Whose rollouts are shown, in their order."""
    return [one.value.split("**")[1] for one in page.caption if one.value.startswith("**")]


def test_the_real_rollout_stands_beside_an_entrys_and_others_can_be_added(ready: Settings) -> None:
    enter(ready, "Still", frozen())
    enter(ready, "Clumsy", grey())

    page = looked_at("Still")
    before = heads(page)
    page.multiselect[0].select("run-Clumsy").run()

    assert before == ["Still", "What really happened"]
    assert heads(page) == ["Still", "What really happened", "Clumsy"]
    assert len(page.slider) == 1 and (page.slider[0].min, page.slider[0].max) == (0, 200)
    page.slider[0].set_value(200).run()
    assert not page.exception


def test_the_real_rollout_is_kept_in_the_store_once_for_all(ready: Settings) -> None:
    first, second = (
        enter(ready, "Still", frozen()),
        enter(ready, "Clumsy", grey()),
    )

    kept = open_store(ready.objects).get(blob_key(first))

    assert first == second and kept == real_rollout(SAMPLE)
    assert from_bytes(kept).source == "real"


def test_an_entry_read_before_real_rollouts_were_kept_borrows_anothers(ready: Settings) -> None:
    enter(ready, "Old", frozen())
    enter(ready, "New", grey())
    with session(ready.database) as db:
        row = db.get(tables.Output, ("sub-Old", SAMPLE.id))
        assert row
        row.record = {"value": row.record["value"]}

    assert heads(looked_at("Old")) == ["Old", "What really happened"]


def test_a_stopped_rollout_shows_its_trace_and_four_frames_that_end_at_the_stop(
    ready: Settings,
) -> None:
    enter(ready, "Still", frozen(), **STOPPED)

    page = looked_at("Still")

    captions = [words for image in page.image for words in image.captions]
    assert [words for words in captions if words.startswith("Frame")] == [
        "Frame 0",
        "Frame 67",
        "Frame 133",
        "Frame 200: stopped",
    ]
    assert "nothing stops it" not in words_of(page)


def test_a_rollout_without_a_threshold_says_so(ready: Settings) -> None:
    enter(ready, "Still", frozen(), **{**STOPPED, "tau": None, "terminated_at": None})

    assert "It has no tau, so nothing stops it." in words_of(looked_at("Still"))


def test_the_trace_has_a_line_at_tau_where_there_is_one() -> None:
    def layers(**said: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = trace({**STOPPED, **said}).to_dict()["layer"]
        return found

    assert [layer["mark"]["type"] for layer in layers()] == ["line", "point", "rule", "text"]
    assert len(layers(tau=None)) == 2
    assert len(trace({"u_chunk": [0.1], "terminated_at": None}).to_dict()["layer"]) == 2, (
        "records from before"
    )


@pytest.mark.parametrize("frames", [1, 2, 3, 57])
def test_moments_end_with_the_last_frame(frames: int) -> None:
    assert moments(frames)[0] == 0 and moments(frames)[-1] == frames - 1


def test_a_rollout_has_a_small_picture_and_a_broken_file_has_none(
    ready: Settings, tmp_path: Path
) -> None:
    store = open_store(ready.objects)
    np.savez(tmp_path / "rollout.npz", views=np.zeros((3, 2, 24, 24, 3), np.uint8))
    store.put(blob_key("a" * 64), b"PK no rollout")

    assert thumbnail(store, put_blob(store, tmp_path / "rollout.npz"), "application/x-npz")
    assert thumbnail(store, "a" * 64, "application/x-npz") is None

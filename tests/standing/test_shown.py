"""What the board's API says about ranks and trust: comparisons, attempts, private samples, changed
ranks, papers."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient
from scipy import stats
from sqlmodel import Session

from evaluators.suites.tailor import published
from flows.publish import board_changes, private_gap
from infra import tables
from infra.db import session
from infra.settings import Settings
from leaderboard.api.app import create
from tests.boards import stock
from tests.standing.test_changes import OTHER
from tests.standing.tiny import SUITE, Dice, asked, enter, load, scored

ENTRIES = (Dice("low", 40), Dice("high", 41, partial=False), Dice("part", 70, partial=True))


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A board of the tiny suite beside the papers' figures, read through the API."""
    settings = stock(Settings(home=tmp_path_factory.mktemp("home")))
    with session(settings.database) as db:
        load(db)
        _samples(db)
        runs = [enter(db, dice) for dice in ENTRIES]
        enter(db, Dice("again", 40.001, team="team low", model="model low"))
        secret = asked(Dice("x", 1)), scored(Dice("x", 20, seed=3), asked(Dice("x", 1)))
        private_gap.store(
            db, SUITE, runs[1], (asked(ENTRIES[1]), scored(ENTRIES[1], asked(ENTRIES[1]))), secret
        )
        for dice in (Dice("low", 60, judge=OTHER), Dice("high", 50, judge=OTHER)):
            board_changes.note(db, SUITE, enter(db, dice))
        db.get_one(tables.Submission, "sub-low").state = "withdrawn"
        db.get_one(tables.Submission, "sub-low").reason = "Withdrawn by the operator."
    return TestClient(create(settings))


def _samples(db: Session) -> None:
    for number, one in enumerate(SUITE.samples()):
        facets = {
            name: getattr(one.facets, name) for name in ("scenario", "task", "setting", "modality")
        }
        db.add(
            tables.Sample(
                suite="tiny",
                version="1",
                id=one.id,
                position=number,
                cluster=one.cluster,
                prompt="",
                subsets=[],
                questions=[],
                request_sha256="",
                **facets,
            )
        )


def run_of(api: TestClient, name: str) -> str:
    rows = api.get("/v1/runs", params={"suite": "tiny"}).json()["rows"]
    return next(
        str(row["run_id"])
        for row in rows
        if row["submission_id"] == f"sub-{name}" and row["judge_name"][0] == "D"
    )


def test_a_comparison_is_that_of_scipy_with_the_boards_intervals_from_the_boards_rows_alone(
    api: TestClient,
) -> None:
    first, second = run_of(api, "high"), run_of(api, "low")
    samples = asked(ENTRIES[0])
    scores = [
        {s.sample_id: s.value for s in scored(dice, samples) if s.metric == "index"}
        for dice in ENTRIES[1::-1]
    ]
    values = np.array([[by_sample[s.id] for s in samples] for by_sample in scores], float)
    tasks = np.array([int(s.cluster.removeprefix("task")) for s in samples])
    by_task = np.stack([values[:, tasks == task].mean(axis=1) for task in range(12)], axis=1)
    gap = by_task[0] - by_task[1]
    reference = stats.ttest_1samp(gap, 0.0)
    interval = reference.confidence_interval()

    found = api.get(
        "/v1/compare", params={"first": first, "second": second, "metric": "index"}
    ).json()

    assert found["difference"] == pytest.approx(gap.mean(), abs=1e-9)
    assert found["error"] == pytest.approx(stats.sem(gap), rel=1e-4)
    assert [found["low"], found["high"]] == pytest.approx(
        [interval.low, interval.high], abs=1e-3 * found["error"]
    )
    assert found["p"] == pytest.approx(float(reference.pvalue), rel=1e-3)
    ahead = np.sign(values[0] - values[1]).tolist()
    assert [found["won"], found["tied"], found["lost"]] == [
        ahead.count(sign) for sign in (1, 0, -1)
    ]
    assert (found["tasks"], found["samples"]) == (12, 48)


def test_entries_of_different_boards_or_of_none_are_not_compared(api: TestClient) -> None:
    rows = api.get("/v1/runs", params={"suite": "tiny"}).json()["rows"]
    boards = {row["board"]: row["run_id"] for row in rows}

    apart = api.get(
        "/v1/compare", params=dict(zip(("first", "second"), boards.values(), strict=False))
    )
    deep = api.get(
        "/v1/compare",
        params={
            "first": run_of(api, "low"),
            "second": run_of(api, "high"),
            "scenario": "rare",
            "task": "kind0",
        },
    )

    assert apart.status_code == 404 and "different boards" in apart.json()["detail"]
    assert deep.status_code == 404 and "at most one" in deep.json()["detail"]


def test_every_attempt_is_listed_also_what_was_withdrawn_and_what_changed_nothing(
    api: TestClient,
) -> None:
    rows = api.get("/v1/suites/tiny/attempts", params={"team": "team low"}).json()["rows"]

    first = [row for row in rows if row["board"] == rows[0]["board"]]
    told = {
        row["submission_id"]: (row["attempt"], row["state"], row["moves"])
        for row in rows
        if row["step"]
    }
    assert told == {"sub-again": (2, "published", False)}
    assert {row["state"] for row in first if row["submission_id"] == "sub-low"} == {"withdrawn"}
    assert any("no significant change" in row["text"] for row in rows)
    assert any(row["reason"] == "Withdrawn by the operator." for row in rows)


def test_private_samples_are_aggregates_with_a_gap_its_interval_and_a_mark(api: TestClient) -> None:
    rows = api.get(f"/v1/runs/{run_of(api, 'high')}/private").json()

    whole = next(
        row
        for row in rows
        if row["metric"] == "index" and row["scenario"] == row["modality"] == "*"
    )
    assert whole["marked"] and whole["gap_low"] < whole["gap"] < whole["gap_high"]
    assert "more than two standard errors" in whole["text"]


def test_changed_ranks_are_listed_with_their_reason(api: TestClient) -> None:
    rows = api.get("/v1/suites/tiny/changes").json()["rows"]

    assert {row["submission_id"] for row in rows if row["metric"] == "index"} == {
        "sub-low",
        "sub-high",
    }
    assert all("another judge" in row["reason"] for row in rows)


def test_tailors_published_table_has_no_rank_intervals_and_says_why(api: TestClient) -> None:
    figure = published.published()[0]
    at = {
        name: getattr(figure.facets, name) for name in ("scenario", "task", "setting", "modality")
    }

    rows = api.get("/v1/suites/tailor/ranking", params={"metric": figure.metric, **at}).json()

    assert rows and {
        (row["trust"], row["rank"], row["best_rank"], row["worst_rank"]) for row in rows
    } == {("C", None, None, None)}
    assert all("taken from a paper" in row["why_no_ranks"] for row in rows)

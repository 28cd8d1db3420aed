"""L-IVA's charts draw what is there and nothing where there is nothing; the case viewer replays a
stored trace."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluators.agents.journal import FolderJournal
from evaluators.media import sha256_file
from evaluators.suites.liva.agent.episode import AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.failures import SIDES
from leaderboard.draw.suite_charts import charts_of, table
from leaderboard.panels.liva import calls, changes, ending
from leaderboard.queries.entries import Figure
from tests.leaderboard.pages import words_of
from tests.suites.liva.films import RuledVideo, every_second, small_case
from tests.suites.liva.oracle import Script, serving

BASE = Figure(
    "Small I2V",
    "auto",
    "A",
    "afs",
    "*",
    "*",
    "closed_loop",
    "*",
    0.5,
    0.4,
    0.6,
    None,
    10,
    10,
    "",
    "",
    "run",
    "board",
)
CHARTS = {chart.name: chart for chart in charts_of("liva")}


def drawn(name: str, *figures: Figure) -> Any:
    chart = CHARTS[name].draw(table(figures))
    return chart.to_dict() if chart else None


def values(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows behind a chart."""
    return [row for rows in chart["datasets"].values() for row in rows]


def test_there_is_a_chart_for_everything_the_study_shows() -> None:
    shown = ["scenes", "best_worst", "subgoals", "attempts", "endings", "signs", "failures"]
    assert list(CHARTS) == shown


@pytest.mark.parametrize("name", CHARTS)
def test_without_figures_there_is_no_chart(name: str) -> None:
    assert drawn(name) is None
    assert drawn(name, replace(BASE, value=None), replace(BASE, setting="*")) is None


def test_scores_stand_scene_by_scene_for_each_method_in_each_loop() -> None:
    figures = [
        replace(BASE, scenario=scene, setting=loop)
        for scene in ("kitchen", "garden")
        for loop in ("closed_loop", "open_loop")
    ]

    rows = values(drawn("scenes", BASE, *figures))

    assert {row["method"] for row in rows} == {"Small I2V, closed loop", "Small I2V, open loop"}
    assert len(rows) == 4


def test_best_against_worst_diverges_around_zero() -> None:
    chart = drawn("best_worst", replace(BASE, metric="bws", value=-40.0, low=-60.0, high=-20.0))

    assert chart["layer"][0]["encoding"]["x"]["scale"]["domain"] == [-100, 100]
    assert values(chart)[0]["value"] == -40


def test_subgoals_stand_in_their_order() -> None:
    figures = [replace(BASE, metric=f"subgoal_{n}", value=1 - n / 10) for n in (2, 1, 3)]

    assert sorted(
        (row["position"], row["value"]) for row in values(drawn("subgoals", *figures))
    ) == [
        (1, 0.9),
        (2, 0.8),
        (3, 0.7),
    ]


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("attempts", ("first_try", "second_try", "third_try", "gave_up")),
        (
            "endings",
            (
                "completed",
                "end_failed_after_retries",
                "end_max_steps",
                "end_generator_error",
                "end_agent",
            ),
        ),
        ("signs", ("false_accept", "vanished")),
        ("failures", tuple(f"tag_{kind}" for kind in SIDES)),
    ],
)
def test_shares_are_shown_part_by_part(name: str, metrics: tuple[str, ...]) -> None:
    rows = values(drawn(name, *(replace(BASE, metric=metric) for metric in metrics)))

    assert [row["metric"] for row in rows] == list(metrics)
    assert len({row["what"] for row in rows}) == len(metrics)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a case's clips and its trace, each under its hash."""
    folder = tmp_path_factory.mktemp("played")
    (folder / "work").mkdir()
    goals = [f"The mug is at place {number}." for number in range(3)]
    with serving(Script(goals=goals)) as endpoint:
        tools = Tools(
            endpoint.talker(),
            RuledVideo(every_second),
            FolderJournal(folder / "journal"),
            folder / "work",
        )
        trace = run_case(small_case(folder, 3), tools, AgentOptions())
    store = folder / "store"
    store.mkdir()
    for attempt in trace.attempts:
        assert attempt.clip
        clip = tools.journal.find(attempt.clip.sha256)
        (store / attempt.clip.sha256).write_bytes(clip.read_bytes())
    (store / "first").write_bytes((folder / "first.png").read_bytes())
    (folder / "trace.json").write_text(trace.model_dump_json())
    (store / sha256_file(folder / "trace.json")).write_text(trace.model_dump_json())
    return folder


def trace_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "trace.json").read_text())
    return found


PAGE = """
import json
from pathlib import Path
from types import SimpleNamespace
from leaderboard.panels import SampleView
from leaderboard.panels.liva import draw

folder = Path({store!r})
record, detail = json.loads({record!r}), json.loads({detail!r})
find = lambda sha256: folder / sha256 if (folder / sha256).is_file() else None
draw(SampleView(None, SimpleNamespace(prompt="Move the *mug*."), record, detail, find))
"""


def opened(folder: Path, record: dict[str, Any], detail: dict[str, Any]) -> AppTest:
    page = PAGE.format(
        store=str(folder / "store"), record=json.dumps(record), detail=json.dumps(detail)
    )
    return AppTest.from_string(page, default_timeout=60).run()


def test_the_case_viewer_replays_a_trace_with_clips_captions_verdicts_and_belief_changes(
    played: Path,
) -> None:
    trace = trace_of(played)
    clips = [
        a["clip"]["sha256"] for step in trace["steps"] for a in step["attempts"] if a["accepted"]
    ]
    record = {
        "trace": sha256_file(played / "trace.json"),
        "clips": [{"sha256": c, "caption": ""} for c in clips],
        "first_frame": "first",
    }

    page = opened(played, record, {"afs": {"af": [1, 0, None]}})

    said = words_of(page)
    assert not page.exception
    assert len(page.get("video")) == len([a for step in trace["steps"] for a in step["attempts"]])
    assert "Completed. " in said
    assert (
        said.count("shows the action") == 1
        and "does not show the action" in said
        and "no readable verdict" in said
    )
    assert "rejected" in said and "To be done differently: move the right hand" in said
    assert len(page.dataframe) == 3, "what is believed otherwise, step by step"


def test_the_case_viewer_shows_a_finished_video_clip_by_clip(played: Path) -> None:
    clip = next(a["clip"]["sha256"] for a in trace_of(played)["steps"][0]["attempts"])
    record = {
        "clips": [
            {"sha256": clip, "caption": "The person <b>pours</b>."},
            {"sha256": "gone", "caption": "x"},
        ]
    }

    page = opened(played, record, {"afs": {"af": [0, 1]}})

    assert not page.exception
    assert len(page.get("video")) == 1 and "cannot be fetched" in page.warning[0].value
    assert "<b>" not in words_of(page).replace("\\<", "")


def test_a_sample_without_a_video_or_trace_adds_nothing(played: Path) -> None:
    page = opened(played, {}, {})

    assert not page.exception and words_of(page) == ""


def test_belief_changes_name_things_hands_and_goals_and_leave_out_what_stayed() -> None:
    mug, jar = {"description": "a mug", "state": "empty"}, {"description": "a jar", "state": None}
    hands = {"right_hand": None, "left_hand": None}
    before = {
        "interactive_objects": {"mug": mug, "jar": jar},
        "avatar_state": hands,
        "task_checklist": [{"goal": "a", "status": "pending"}],
    }
    after = {
        "interactive_objects": {"mug": {**mug, "state": "full"}},
        "avatar_state": {**hands, "right_hand": "mug"},
        "task_checklist": [{"goal": "a", "status": "done"}],
    }

    found = {row["What"]: (row["Before"], row["After"]) for row in changes(before, after)}

    assert found == {
        "Mug": ("empty", "full"),
        "Jar": ("a jar", "—"),
        "Right hand": ("—", "mug"),
        "A": ("pending", "done"),
    }
    assert changes(None, after) == []


def test_every_call_of_a_trace_is_listed_in_the_order_it_was_made(played: Path) -> None:
    trace = trace_of(played)
    listed = calls(trace)

    assert len(listed) == trace["spent"]["vlm_calls"]
    assert (listed[0][0], listed[0][1]["step"], listed[-1][0]) == ("Start", "init", "End")
    assert f"{trace['spent']['clips']} clips" in ending(trace)

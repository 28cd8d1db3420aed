"""UNIVERSE through the door: an adapted judge with its row on the board, rows to measure by,
finished answers."""

from __future__ import annotations

import json
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from evaluators.media import frame_indices
from evaluators.models.adapt.batches import Lesson, LessonPacker, Taught
from evaluators.models.adapt.train import TrainingPlan
from evaluators.models.vlm.adapter import Base, packaged_base
from evaluators.suites import suite_named
from evaluators.suites.universe.bank import in_demo
from evaluators.suites.universe.construction import build, of_session
from evaluators.suites.universe.segments import read_annotations
from evaluators.worlds.doom.engine import running
from evaluators.worlds.doom.sessions import SessionOrder
from flows.cli.demos import universe as demo_universe
from flows.cli.game.adapt_report import say_result
from flows.evaluate.door import receive
from flows.evaluate.flow import evaluate
from flows.run.catalogue import from_code
from flows.suites import universe_adapt_flow
from flows.suites.judges.baselines import hand_in_baselines
from flows.suites.judges.bases import CannotAdapt, find_base
from flows.suites.judges.exam import examine_folder, sit_exam
from flows.suites.universe_adapt import (
    AdaptationRequest,
    AdaptationResult,
    LessonMixture,
    adapt,
    lessons_of,
)
from flows.workers.judges import JudgeOptions, open_judge
from infra import tables
from infra.db import session
from infra.settings import Settings
from infra.tables.results import Output
from leaderboard.queries.comparison import recipes
from leaderboard.queries.ranking import BoardAddress, ranking
from submissions.bundle.check import check
from submissions.format.errors import IntakeError
from submissions.tools.import_answers import import_answers
from tests.bundles import declaration
from tests.command import Machine

PLAN = TrainingPlan(steps=2, batch=2, accumulate=1, rate=5e-3, mask="image_first")


def about(**changes: Any) -> dict[str, Any]:
    suite = suite_named("universe")
    return declaration(
        suite="universe", suite_version=suite.version, modalities=["text"], **changes
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    with running() as engine:
        orders = [SessionOrder("environment_1", seed, 4) for seed in (6, 7, 8)]
        build([of_session(engine.record(order)) for order in orders], folder)
    return folder


def adapted(data: Path, to: Path, plan: TrainingPlan = PLAN) -> AdaptationResult:
    """An adapter folder whose declaration names the demo subset."""
    done = adapt(
        AdaptationRequest(None, data, to, "uniform-2", 0.34, "Owls", "Owl judge"), plan, "cpu"
    )
    said = json.loads((to / "armillary.json").read_text())
    (to / "armillary.json").write_text(json.dumps({**said, "subset": "demo"}))
    return done


def test_an_adapter_folder_lands_on_the_board_with_its_own_row(
    ready: Settings, data: Path, tmp_path: Path
) -> None:
    done = adapted(data, tmp_path / "judge")
    received = receive(ready, None, tmp_path / "judge", None)

    evaluate.fn(received.submission_id)
    with session(ready.database) as db:
        (row,) = [row for row in ranking(db, "universe", None, BoardAddress()) if row.trust != "C"]
        recipe = recipes(db, [row.run_id])[row.run_id]
        failed = [output.reason for output in db.exec(select(Output)) if output.reason]

    assert done.parameters == 128 * 128 + 128
    assert "action_recognition, open_ended" in done.held_out
    assert (row.model, row.rank, row.trust) == ("Owl judge, seed 0", 1, "A")
    # What the small base leaves unanswered is its own failure; no question is lost otherwise.
    assert set(failed) <= {"The answer is empty."} and len(failed) < 8
    assert (row.n_scored or 0) + len(failed) == row.n_expected == 24
    assert "strategy projector" in recipe and "seed" not in recipe


def test_a_worker_adapts_a_judge_as_a_run_of_its_own(
    home: Settings, data: Path, tmp_path: Path
) -> None:
    found = universe_adapt_flow.adapt.fn(
        str(data),
        str(tmp_path / "judge"),
        plan=asdict(PLAN),
        frames="uniform-2",
        held_out=0.34,
        name="Owl judge",
    )

    assert "action_recognition, open_ended" in found
    assert (
        json.loads((tmp_path / "judge" / "armillary.json").read_text())["model"]["name"]
        == "Owl judge, seed 0"
    )


def test_the_demo_hands_in_a_reader_unadapted_and_adapted_once_each(ready: Settings) -> None:
    received = [
        receive(ready, str(bundle), None, None).submission_id
        for _ in range(2)
        for bundle in demo_universe.bundles(ready)
    ]
    with session(ready.database) as db:
        rows = [db.get_one(tables.Submission, name) for name in received[:2]]

    assert received[:2] == received[2:] and len(set(received)) == 2
    assert {(row.role, row.kind, row.subset) for row in rows} == {("entry", "model", "demo")}
    said = [row.manifest["disclosure"]["statement"] for row in rows]
    assert "never seen the game" in said[0] and "trained on recorded play" in said[1]


def test_the_yardsticks_are_handed_in_as_baselines(ready: Settings) -> None:
    found = dict(hand_in_baselines(ready, "demo", None))

    assert set(found) == {"Chance", "Majority class", "Small drawn reader, zero-shot"}
    with session(ready.database) as db:
        rows = [db.get(tables.Submission, name) for name in found.values()]
    assert {row.role for row in rows if row} == {"baseline"}
    assert {row.kind for row in rows if row} == {"outputs", "model"}


def test_a_lora_adapter_passes_the_door_and_judges_a_changed_one_does_not(
    ready: Settings, data: Path, tmp_path: Path
) -> None:
    adapted(data, tmp_path / "judge", TrainingPlan(strategy="lora", steps=1, batch=1, accumulate=1))

    received = receive(ready, None, tmp_path / "judge", None)
    judge = open_judge(f"vlm:{tmp_path / 'judge'}", "cpu", JudgeOptions.of(Settings()))
    (tmp_path / "judge" / "judge.json").write_text('{"frames": "all", "prompt": "say yes"}')

    assert received.submission_id.startswith("sub-")
    assert judge.card.frames == "uniform-2"
    with pytest.raises(IntakeError, match="E_CONFIG_KEY"):
        receive(ready, None, tmp_path / "judge", None)


def test_finished_answers_become_a_bundle_and_bad_lines_are_named(tmp_path: Path) -> None:
    known = {sample.id for sample in suite_named("universe").samples()}
    demo = [sample.id for sample in suite_named("universe").samples() if in_demo(sample)]
    answers, bundle = tmp_path / "answers.jsonl", tmp_path / "bundle.zip"
    lines = [json.dumps({"sample": name, "answer": "yes"}) for name in demo]
    answers.write_text("\n".join(lines))

    made = check(import_answers(bundle, about(), answers, known), from_code())
    answers.write_text(
        "\n".join([*lines, "{", lines[0], json.dumps({"sample": f"{demo[0]}0", "answer": "x"})])
    )
    with pytest.raises(IntakeError) as told:
        import_answers(bundle, about(), answers, known)

    assert len(made.media) == len(made.expected) == 24
    found = [(problem.code, problem.where) for problem in told.value.problems]
    assert found == [
        ("E_ANSWERS", "line 25"),
        ("E_ITEM_DUPLICATE", "line 26"),
        ("E_ITEM_UNKNOWN", "line 27"),
    ]
    assert f"Did you mean '{demo[0]}'?" in told.value.problems[2].hint


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"frames": "all"}, "uniform-n or first-n"), ({"base": "elsewhere"}, "holds no config.json")],
)
def test_mistakes_in_what_is_to_be_adapted_are_told_in_words(
    changes: dict[str, str], said: str, data: Path, tmp_path: Path
) -> None:
    base = tmp_path / changes["base"] if "base" in changes else None

    with pytest.raises(CannotAdapt, match=said):
        adapt(
            AdaptationRequest(
                base, data, tmp_path / "to", changes.get("frames", "first-2"), 0, "t", "n"
            ),
            PLAN,
            "cpu",
        )


@pytest.mark.long
def test_the_whole_path_from_the_command_line(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home")
    adapter, data = tmp_path / "my-judge", tmp_path / "data"
    plan = (
        "--steps",
        "2",
        "--batch",
        "2",
        "--accumulate",
        "1",
        "--frames",
        "uniform-2",
        "--held-out",
        "0.34",
    )
    machine.run("init")

    machine.run("universe", "data", str(data), "--sessions", "3", "--takes", "6")
    told = machine.run(
        "universe", "adapt", str(adapter), "--data", str(data), "--team", "Owls", *plan
    )
    machine.run("submit", "--model", str(adapter))

    assert "16,512 of" in told and "action_recognition, open_ended" in told
    assert "no annotations.jsonl" in machine.run(
        "universe", "adapt", str(adapter), "--data", str(tmp_path), status=2
    )


COMMIT = "1f" * 20
BASE_ID = f"owls/small-reader@{COMMIT}"


def other_base(tmp_path: Path) -> Path:
    """A copy of the packaged reader under another name: a base that only its team knows."""
    folder = tmp_path / "downloads" / "reader"
    shutil.copytree(packaged_base(), folder)
    return folder


def test_the_id_of_a_base_reaches_the_declaration_the_door_and_the_judge(
    ready: Settings, data: Path, tmp_path: Path
) -> None:
    to, shelf = tmp_path / "judge", tmp_path / "shelf"
    wish = AdaptationRequest(
        other_base(tmp_path), data, to, "uniform-2", 0, "Owls", "Owl", BASE_ID, shelf
    )

    adapt(wish, PLAN, "cpu")
    received = receive(ready, None, to, None)
    judge = open_judge(f"vlm:{to}", "cpu", replace(JudgeOptions.of(Settings()), shelf=shelf))

    with session(ready.database) as db:
        manifest = db.get_one(tables.Submission, received.submission_id).manifest
    assert manifest["model"]["base"] == {"id": "owls/small-reader", "revision": COMMIT}
    assert (shelf / "owls--small-reader" / COMMIT / "config.json").is_file()
    assert judge.card.frames == "uniform-2"


def test_a_base_on_the_shelf_is_found_by_its_id_alone(data: Path, tmp_path: Path) -> None:
    place = tmp_path / "shelf" / "owls--small-reader"
    place.mkdir(parents=True)
    (place / COMMIT).symlink_to(packaged_base())

    by_id = find_base(None, BASE_ID, tmp_path / "shelf")
    by_folder = find_base(place / COMMIT, "", None)

    assert by_id.base == by_folder.base == Base("owls/small-reader", COMMIT)
    assert by_id.declared and by_folder.declared
    with pytest.raises(CannotAdapt, match="set ARMILLARY_SHELF"):
        find_base(None, BASE_ID, None)
    with pytest.raises(CannotAdapt, match="40 hexadecimal digits"):
        find_base(None, "owls/small-reader@main", None)


def test_a_base_without_an_id_is_turned_away_at_the_door_and_said_so_before(
    ready: Settings, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wish = AdaptationRequest(
        other_base(tmp_path), data, tmp_path / "judge", "uniform-2", 0, "Owls", "Owl"
    )

    say_result(adapt(wish, PLAN, "cpu"), as_json=False)

    assert "its base has no public name" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(IntakeError, match="E_BASE_MODEL"):
        receive(ready, None, tmp_path / "judge", None)


def test_twelve_frames_are_the_same_twelve_in_training_exam_and_judging(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[int]] = {"training": set(), "exam": set()}
    plain = LessonPacker.read
    where = ["training"]

    def watched(self: LessonPacker, lesson: Lesson) -> Taught:
        seen[where[0]].add(len(lesson.frames))
        return plain(self, lesson)

    def examined(*given: Any) -> dict[str, float]:
        where[0] = "exam"
        return sit_exam(*given)

    monkeypatch.setattr(LessonPacker, "read", watched)
    monkeypatch.setattr("flows.suites.universe_adapt.sit_exam", examined)
    to = tmp_path / "judge"

    adapt(AdaptationRequest(None, data, to, "uniform-12", 0.34, "Owls", "Owl"), PLAN, "cpu")
    judge = open_judge(f"vlm:{to}", "cpu", JudgeOptions.of(Settings()))

    assert seen == {"training": {12}, "exam": {12}}
    assert judge.card.frames == "uniform-12" and len(frame_indices("uniform-12", 14)) == 12


def test_the_checkpoint_stays_until_the_exam_is_over_and_the_exam_can_be_sat_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = tmp_path / "judge"
    wish = AdaptationRequest(None, data, to, "uniform-2", 0.34, "Owls", "Owl")

    def broken(*_given: Any) -> dict[str, float]:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("flows.suites.universe_adapt.sit_exam", broken)
        with pytest.raises(MemoryError):
            adapt(wish, PLAN, "cpu")
    kept = (to / "checkpoint").is_dir()
    steps: list[int] = []
    done = adapt(wish, PLAN, "cpu", lambda step: steps.append(step.number))

    assert kept and steps == [] and not (to / "checkpoint").exists()
    assert examine_folder(to, data, (None, None), (0.34, 0), "cpu", 1 << 20) == done.held_out


def test_pairs_and_another_number_of_questions_are_refused_together() -> None:
    with pytest.raises(CannotAdapt, match="--pairs asks 3 questions a clip, --questions 8"):
        LessonMixture.read("0.8,0.2", "0.15,0.05,0.8", 8, pairs=True)


def test_epochs_and_the_mixture_settle_steps_and_questions(data: Path, tmp_path: Path) -> None:
    mixture = LessonMixture.read("1,0", "0,0,1", 1)
    wish = AdaptationRequest(
        None, data, tmp_path / "judge", "uniform-2", 0, "Owls", "Owl", epochs=2, mixture=mixture
    )
    lessons = lessons_of(wish, read_annotations(data), 0)

    done = adapt(wish, replace(PLAN, steps=0), "cpu")

    assert {item.format for item in lessons.items} == {"open_ended"}
    assert {item.task for item in lessons.items} == {"action_recognition"}
    assert len(done.losses) == len(lessons)


@pytest.mark.long
def test_two_processes_of_the_command_adapt_one_judge_that_is_ranked(
    ready: Settings, data: Path, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    told = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    machines = [
        Machine(tmp_path / f"home{rank}", {**told, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(2)
    ]
    to = tmp_path / "judge"
    plan = ("--steps", "2", "--frames", "uniform-2", "--held-out", "0.34", "--team", "Owls")
    command = ("universe", "adapt", str(to), "--data", str(data), *plan)

    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda machine: machine.run_alone(*command), machines)
    manifest = json.loads((to / "armillary.json").read_text())
    (to / "armillary.json").write_text(json.dumps({**manifest, "subset": "demo"}))
    evaluate.fn(receive(ready, None, to, None).submission_id)
    with session(ready.database) as db:
        ranks = [row.rank for row in ranking(db, "universe", None, BoardAddress())]

    assert "step 2 of 2" in first and "action_recognition, open_ended" in first
    assert "step" not in second and "action_recognition" not in second
    assert "16 clips seen" in (to / "README.md").read_text()
    assert 1 in ranks

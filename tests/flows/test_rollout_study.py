"""A study of rollouts from end to end: worlds through the door, items made by one command, two
raters and an adjudicator, agreement with the judge, and other metrics beside people's marks.

The raters are scripted (they go by the contrast of the blinded clip), and the weights of LPIPS and
FVD are random: the figures say that the path works, and nothing about any metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlmodel import col, select

from evaluators.contracts import Question, Request
from evaluators.judges.scripted import ScriptedJudge
from evaluators.media import read_frames
from evaluators.statistics.opinions import opinions
from evaluators.suites import suite_named
from evaluators.suites.likeness import FOLDER
from evaluators.suites.universe.boards.worlds.bank import start_of
from evaluators.suites.universe.boards.worlds.rating import agree
from evaluators.suites.universe.boards.worlds.rolling import write_rollout
from flows.cli.game.worlds import pack_game
from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.studies.against_people.other_metrics import others_and_people
from flows.studies.create import invite, move
from flows.studies.people import people_of
from flows.studies.ratings import ratings
from flows.workers.judges import open_judge
from infra.db import session
from infra.settings import Settings
from infra.store import fetch_blob, open_store
from infra.tables import Judge, Run, Score
from infra.tables.study import Seat, Study
from leaderboard.studies.forms import Form, FormQuestion
from tests.bundles import declaration
from tests.command import Machine
from tests.leaderboard.pages import opened, words_of
from tests.models.fidelity_weights import write_film, write_lpips
from tests.studies.making import Answering, by_reading, rate

SUITE = suite_named("universe_worlds")
DEMO = [sample for sample in SUITE.samples() if SUITE.subsets["demo"](sample)]
SHARES = (1.0, 0.5, 0.2, 0.0)
"""How much of the game is left in each entry; the rest is grey."""
STUDY, MARK = "rollouts", "graded_accuracy"


def always_first(_request: Request, question: Question) -> str:
    return question.options[0]


@pytest.fixture
def settings(
    ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Settings]:
    write_lpips(tmp_path / "weights")
    write_film(tmp_path / "weights")
    monkeypatch.setenv(FOLDER, str(tmp_path / "weights"))
    monkeypatch.setenv("ARMILLARY_EXAM", "off")
    monkeypatch.setenv("ARMILLARY_ENGINE", "here")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr("flows.workers.judges.ScriptedJudge", lambda: ScriptedJudge(always_first))
    open_judge.cache_clear()
    yield ready
    open_judge.cache_clear()


def handed_in(folder: Path, share: float) -> str:
    """A world of which so much is the game, through the door and judged."""
    outputs = folder / f"world-{share}"
    outputs.mkdir()
    for sample in DEMO:
        truth = start_of(sample).truth
        faded = (share * truth + (1 - share) * 128.0).round().astype(np.uint8)
        write_rollout(sample, faded, outputs / f"{sample.id}.mp4")
    about: dict[str, Any] = declaration(
        suite=SUITE.name, suite_version=SUITE.version, subset="demo", modalities=["video"]
    )
    about["model"] = {**about["model"], "name": f"World of {share}"}
    bundle = folder / f"world-{share}.zip"
    pack_game(outputs, bundle, about)
    submission = receive(Settings(), str(bundle), None, None).submission_id
    assert run_here(submission, Settings(), "").state == "published"
    return submission


def by_contrast(settings: Settings, stricter: float = 1.0) -> Answering:
    """Somebody who looks at the blinded clip: what stands out is correct."""
    store = open_store(settings.objects)

    def answer(ask: FormQuestion, form: Form) -> Any:
        if "checks that you read" in form.text:
            return by_reading(ask, form)
        file = settings.home / f"seen-{form.media[0].blob}.mp4"
        if not file.is_file():
            fetch_blob(store, form.media[0].blob, file)
        height, width = read_frames(file).shape[1:3]
        middle = read_frames(file)[:, height // 3 : -height // 3, width // 4 : -width // 4]
        seen = float(middle.std())
        bar = stricter if ask.id == "character" else 1.0
        if seen > 25 * bar:
            return "correct"
        return "partially_correct" if seen > 9 else "incorrect"

    return answer


def studied(
    machine: Machine, settings: Settings, worlds: list[str], raters: list[Answering]
) -> dict[str, Any]:
    """A study of the worlds from its making to its publication; the last rater is the
    adjudicator."""
    named = [word for world in worlds for word in ("--submission", world)]
    machine.run("study", "create", STUDY, SUITE.name, *named, "--samples", "8")
    keys = [*invite(settings, STUDY, 2), *invite(settings, STUDY, 1, role="adjudicator")]
    move(settings, STUDY, "open")
    for key, answer in zip(keys, raters, strict=True):
        rate(settings, key, answer)
    move(settings, STUDY, "closed")
    assert "publish it" in machine.run("study", "metrics", STUDY, status=2)
    machine.run("study", "publish", STUDY)
    with session(settings.database) as db:
        return db.get_one(Study, STUDY).result


def with_shuffled_marks(settings: Settings) -> dict[str, Any]:
    """What the same study would have found had its marks been dealt to other rollouts."""
    with session(settings.database) as db:
        study = db.get_one(Study, STUDY)
        entries = people_of(db, study, opinions(ratings(db, study)))
        scores = [
            s for entry in entries for s in entry.scores if s.metric == MARK and s.value is not None
        ]
        values = iter(
            np.random.default_rng(1).permutation([score.value or 0.0 for score in scores])
        )
        dealt = [
            replace(
                entry,
                scores=tuple(
                    replace(score, value=float(next(values)))
                    for score in entry.scores
                    if score in scores
                ),
            )
            for entry in entries
        ]
        return others_and_people(dealt)


def test_rollouts_become_a_study_that_holds_judge_and_metrics_against_people(
    settings: Settings, tmp_path: Path
) -> None:
    machine = Machine(settings.home)
    worlds = [handed_in(tmp_path, share) for share in SHARES]

    strict, lenient = by_contrast(settings, 1.6), by_contrast(settings)
    seen = studied(machine, settings, worlds, [lenient, strict, lenient])

    rows = seen["others"]["table"]
    psnr = [rows[world]["psnr"] for world in worlds]
    people = [rows[world]["graded_accuracy"] for world in worlds]
    assert psnr == sorted(psnr, reverse=True) and people == sorted(people, reverse=True)
    assert [rows[world]["n"] for world in worlds] == [8] * len(SHARES)
    by_psnr = seen["others"]["outputs"]["psnr"][MARK]
    assert by_psnr["n"] == 8 * len(SHARES) and by_psnr["spearman"]["low"] > 0.4
    for name in ("lpips", "fvd"):
        assert seen["others"]["outputs"][name][MARK]["pearson"]["value"] < -0.4
        assert seen["others"]["entries"][name][MARK]["n"] == len(SHARES)
    for name in ("psnr", "lpips", "fvd"):
        chance = with_shuffled_marks(settings)["outputs"][name][MARK]["pearson"]
        assert abs(chance["value"]) < 0.45 and chance["low"] < 0 < chance["high"]

    assert _adjudicated(settings) > 0
    assert seen["kept"]["agreement"]["kappa"]["value"] > 0.4
    ((judge, metrics),) = seen["judges"].items()
    found = metrics["strict_accuracy"]["everything"]
    by_hand = agree(_pairs(settings, worlds))
    assert {name: found[name] for name in by_hand} == pytest.approx(dict(by_hand))

    said = machine.run("study", "metrics", STUDY)
    assert "PSNR" in said and "FVD (lower is better)" in said and "Other data than ours" in said
    page = opened("studies")
    assert not page.exception
    assert "Other metrics beside people's marks" in words_of(page)
    assert "What the paper printed, about other data" in words_of(page)
    tables = opened("judges", judge=judge).dataframe
    assert any("Agree, strict" in shown.value.columns for shown in tables)


def _adjudicated(settings: Settings) -> int:
    with session(settings.database) as db:
        seats = db.exec(select(Seat).where(Seat.study_id == STUDY, Seat.state == "done")).all()
    return sum(seat.slot >= 2 for seat in seats)


def _pairs(settings: Settings, worlds: list[str]) -> list[tuple[float, float]]:
    """The judge's score and people's strict one of each rollout."""
    query = (
        select(Score, Run, Judge)
        .join(Run, Run.id == Score.run_id)  # type: ignore[arg-type]
        .join(Judge, Judge.fingerprint == Run.judge)  # type: ignore[arg-type]
        .where(col(Run.submission_id).in_(worlds), col(Score.value).is_not(None))
    )
    judged: dict[tuple[str, str], float] = {}
    people: dict[tuple[str, str], float] = {}
    with session(settings.database) as db:
        for score, run, judge in db.exec(query):
            at = run.submission_id, score.sample_id
            if judge.kind == "auto" and score.metric == "score":
                judged[at] = score.value or 0.0
            elif judge.card.get("revision") == STUDY and score.metric == "strict_accuracy":
                people[at] = score.value or 0.0
    return [(judged[at], value) for at, value in people.items() if at in judged]

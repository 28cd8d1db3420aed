"""A blinded study on a lab's own bench, by the command line: where labels that come with rollouts
do not count, scripted people look at the clips, and their labels make the board."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.media import read_frames
from evaluators.metrics.outcomes import ObjectOutcome, categorise
from evaluators.suites.sc3.own.bench import open_bench
from evaluators.suites.sc3.rollouts.trajectories import from_bytes
from infra.settings import Settings
from infra.store import fetch_blob, open_store
from leaderboard.studies.forms import Form, FormQuestion
from tests.command import Machine
from tests.studies.making import Answering, by_reading, rate
from tests.suites.sc3.dots import SIDE
from tests.suites.sc3.labs import ARM, handed_in, rolled_out
from tests.suites.sc3.robots import arm_bench, outcome

STUDY = "pilot"
FIRST_VIEW = 640 / 3
"""How wide the first of three views is on the canvas that raters see, which is 640 by 480."""


@pytest.mark.xdist_group("embedded")
def test_people_who_see_blinded_clips_give_a_lab_s_own_bench_its_figures(tmp_path: Path) -> None:
    arm = arm_bench(tmp_path / "arm", labels="study", starts=2)
    machine = Machine(
        tmp_path / "home", {"ARMILLARY_BANKS_PATH": str(arm), "ARMILLARY_ENGINE": "here"}
    )
    machine.run("init")
    rollouts = rolled_out(machine, ARM, tmp_path / "out")
    submission = handed_in(machine, ARM, rollouts)
    (unlabelled,) = online(machine)
    seen: list[Form] = []

    told = machine.run("study", "create", STUDY, ARM.suite, "--submission", submission)
    keys = [*invited(machine, "--count", "2"), *invited(machine, "--adjudicator")]
    machine.run("study", "open", STUDY)
    settings = Settings(home=machine.home)
    for key, hasty in zip(keys, (False, True, False), strict=True):
        rate(settings, key, by_looking(settings, seen, hasty))
    machine.run("study", "close", STUDY)
    machine.run("study", "publish", STUDY)

    assert unlabelled["value"] is None and unlabelled["rank"] is None
    assert "21 items" in told, "12 rollouts, 6 real runs, and 3 that ask whether people read"
    shown = json.dumps([form.as_row() for form in seen])
    assert not [name for name in (submission, "Painter", "stranger", "p1-0") if name in shown]
    (people,) = [entry for entry in online(machine) if entry["value"] is not None]
    assert (people["rank"], people["n_scored"], people["n_expected"]) == (1, 6, 6)
    assert people["evaluator"] == "human" and people["submission_id"] == submission
    assert people["value"] == pytest.approx(by_hand(arm, rollouts))


def invited(machine: Machine, *options: str) -> list[str]:
    """The keys in the links that are printed."""
    links = machine.run("study", "invite", STUDY, *options).split()
    return [link.rpartition("key=")[2] for link in links]


def by_looking(settings: Settings, seen: list[Form], hasty: bool) -> Answering:
    """Somebody who follows the dot in the first view of a clip; who is hasty calls nothing
    placed."""
    store = open_store(settings.objects)

    @cache
    def held(blob: str) -> dict[str, bool]:
        file = settings.home / f"seen-{blob}.mp4"
        fetch_blob(store, blob, file)
        return outcome(as_filmed(read_frames(file)[-1]))

    def answer(ask: FormQuestion, form: Form) -> Any:
        if "checks that you read" in form.text or ask.kind != "choice":
            return by_reading(ask, form)
        seen.append(form)
        criterion = ask.id.rpartition(".")[2]
        lenient = not (hasty and criterion == "object_placing")
        return "yes" if lenient and held(form.media[0].blob)[criterion] else "no"

    return answer


def as_filmed(picture: np.ndarray) -> np.ndarray:
    """The first view of a clip's last picture at the size at which the robot's camera took it."""
    middles = (np.arange(SIDE) + 0.5) * FIRST_VIEW / SIDE
    above = (picture.shape[0] - FIRST_VIEW) / 2
    rows, columns = (middles + above).astype(int), middles.astype(int)
    return np.asarray(picture[np.ix_(rows, columns)][None, None])


def online(machine: Machine) -> list[dict[str, Any]]:
    """The arm's board of policies that acted on generated frames."""
    address = ("--setting", "online", "--modality", "video", "--format", "json")
    told = machine.run("board", ARM.suite, "--metric", "reproduction_average", *address)
    entries: list[dict[str, Any]] = json.loads(told)
    return entries


def by_hand(arm: Path, rollouts: Path) -> float:
    """In how many of the ways to end on the robot a rollout ends as its real run did, the mean."""
    same: dict[str, list[bool]] = {}
    for name, trial in open_bench(arm).trials.items():
        frames = from_bytes((rollouts / f"{name}.online.npz").read_bytes()).frames
        real, now = categorise(trial.outcomes), categorise([ObjectOutcome(**outcome(frames))])
        same.setdefault(str(real), []).append(real == now)
    return float(np.mean([np.mean(ends) for ends in same.values()]))

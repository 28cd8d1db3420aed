"""An operator's private starts, end to end: mounted, rolled out in a model that we run, scored;
only aggregates leave the server."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from evaluators.contracts import ALL, Outcome
from evaluators.suites.sc3.samples import PRIVATE, private_samples
from evaluators.suites.sc3.table.recordings import RECORDINGS
from evaluators.suites.sc3.table.trials import SHIPPED_TABLE, TRIALS, read_trials, table_starts
from infra.db import session
from infra.settings import Settings
from infra.tables import Output, Run
from leaderboard.api.app import create
from leaderboard.export.static_site import write
from tests.command import Machine
from tests.suites.sc3.rolled import model_folder
from tests.suites.sc3.test_on_the_board import hand_in_model
from tests.worlds.stages import open_stage

pytestmark = pytest.mark.xdist_group("embedded")

SECRET = "nobody knows where these lie"
RUN_PAGES = ("cells", "failures", "private", "samples?metric=reproduction_average")


def copied(folder: Path) -> Path:
    """Seven starts that the public subset does not have, as if an operator had recorded them."""
    trials = [trial for trial in read_trials() if trial.start.endswith("-09")]
    (folder / RECORDINGS).mkdir(parents=True)
    (folder / TRIALS).write_text("".join(trial.line() + "\n" for trial in trials), "utf-8")
    for trial in trials:
        shutil.copy(SHIPPED_TABLE / RECORDINGS / f"{trial.start}.npz", folder / RECORDINGS)
    return folder


def evaluated(folder: Path, private: Path) -> tuple[Settings, str]:
    """A small model's folder through the door of a machine with private starts, and its run."""
    variables = {"ARMILLARY_ENGINE": "here", "ARMILLARY_PRIVATE": str(private)}
    machine = Machine(folder / "home", variables)
    machine.run("init")
    submission = hand_in_model(machine, model_folder(folder / "model"), "Small")
    machine.run("evaluate", submission)
    settings = Settings(home=machine.home, private=private)
    with session(settings.database) as db:
        (run,) = db.exec(select(Run).where(Run.submission_id == submission))
        return settings, run.id


def everything_public(settings: Settings, run: str, folder: Path) -> str:
    """What the API says of the run and the models, and every exported file."""
    api = TestClient(create(settings))
    paths = ("models", "runs", "status", *(f"runs/{run}/{page}" for page in RUN_PAGES))
    answers = [api.get(f"/v1/{path}") for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    with session(settings.database) as db:
        files = [Path(path).read_bytes() for path in write(db, folder)]
    return "\n".join([*(a.text for a in answers), *(f.decode("utf-8", "replace") for f in files)])


def assert_only_aggregates_leave(settings: Settings, run: str, folder: Path) -> None:
    with session(settings.database) as db:
        outputs = list(db.exec(select(Output)))
    hidden = [row for row in outputs if row.sample_id.startswith(PRIVATE)]
    assert len(hidden) == 14 and {row.outcome for row in hidden} == {Outcome.SCORED}
    shown = everything_public(settings, run, folder)
    assert PRIVATE not in shown and "Small" in shown
    api = TestClient(create(settings))
    media = {row.media_sha256 for row in hidden} - {
        row.media_sha256 for row in outputs if row not in hidden
    }
    assert media and {api.get(f"/v1/media/{sha}").status_code for sha in media} == {404}
    rows = api.get(f"/v1/runs/{run}/private").json()
    whole = {
        row["setting"]: row
        for row in rows
        if row["metric"] == "reproduction_average" and row["task"] == row["scenario"] == ALL
    }
    assert whole["online"]["n_scored"] == whole["online"]["n_expected"] == 7
    assert 0 <= whole["online"]["value"] <= 1
    assert not any("policy_" in row["task"] for row in rows)


def test_only_aggregates_of_private_starts_leave_the_server(tmp_path: Path) -> None:
    copied(tmp_path / "private" / "sc3")

    settings, run = evaluated(tmp_path, tmp_path / "private")

    assert_only_aggregates_leave(settings, run, tmp_path / "site")


@pytest.mark.long
def test_starts_drawn_with_a_secret_are_recorded_mounted_and_rolled_out(tmp_path: Path) -> None:
    open_stage()
    (tmp_path / "secret").write_text(SECRET, "utf-8")
    private = tmp_path / "private" / "sc3"
    machine = Machine(tmp_path / "operator")
    options = ("--secret", str(tmp_path / "secret"), "--to", str(private), "--starts", "1")
    printed = machine.run("sc3", "trials", *options)

    settings, run = evaluated(tmp_path, private.parent)

    drawn = {start.id: start for _, start in table_starts(1, SECRET)}
    recorded = {sample.cluster.removeprefix(PRIVATE) for sample in private_samples(private)}
    assert recorded == set(drawn) and SECRET not in printed
    assert_only_aggregates_leave(settings, run, tmp_path / "site")
    shown = everything_public(settings, run, tmp_path / "again")
    assert SECRET not in shown
    for start in drawn.values():
        assert json.dumps(start.placements[0].x)[:8] not in shown

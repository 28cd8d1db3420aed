"""A suite that lies outside of the tree runs to the board, is rated by people, and draws on the
pages."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import select

from infra.db import session
from infra.settings import Settings
from infra.tables import Judge, Run, Score
from tests.bundles import declaration, picture, write
from tests.command import ROOT, Machine
from tests.servers.prefect import PrefectServer
from tests.studies.making import by_reading, rate
from tests.suites.outside import FILES, NAME, write_suite

COLOURS = ("red", "green", "blue", "white", "black", "grey")
PAGES = """
import sys
from streamlit.testing.v1 import AppTest

def texts(view, **params):
    page = AppTest.from_string(
        f"from leaderboard.views import {view}\\n{view}.page()", default_timeout=60
    )
    for key, value in params.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception, page.exception
    return [element.value for element in (*page.header, *page.subheader, *page.text)]

print(texts("gaps", suite="shades"))
print(texts("samples", run=sys.argv[1], metric="right", sample="red.plain"))
print(sorted(name for name in ("torch", "evaluators") if name in sys.modules))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of suites with one suite in it."""
    return write_suite(tmp_path / "suites")


def _bundle(to: Path) -> Path:
    members = {f"outputs/{colour}.plain.png": picture(n) for n, colour in enumerate(COLOURS)}
    files = [
        {
            "path": path,
            "sha256": hashlib.sha256(data).hexdigest(),
            "sample": path.removeprefix("outputs/").removesuffix(".png"),
        }
        for path, data in members.items()
    ]
    manifest = {**declaration(suite=NAME, suite_version="1.0", subset="full"), "files": files}
    return write(to, json.dumps(manifest).encode(), members)


@pytest.mark.xdist_group("servers")
def test_a_suite_in_a_folder_of_its_own_is_judged_rated_and_drawn(
    tmp_path: Path, folder: Path, prefect_server: PrefectServer
) -> None:
    variables = {**prefect_server.environment, "ARMILLARY_SUITES_PATH": str(folder)}
    machine = Machine(tmp_path / "home", variables)
    settings = Settings(home=machine.home)
    machine.run_alone("init")
    reply = machine.run_alone("submit", str(_bundle(tmp_path / "bundle.zip")))
    submission = next(word.strip(".") for word in reply.split() if word.startswith("sub-"))
    machine.run_alone("evaluate", submission)

    entry = json.loads(machine.run_alone("board", NAME, "--format", "json"))[0]
    assert (entry["rank"], entry["n_scored"], entry["n_expected"]) == (1, 6, 6)
    assert "All agree with the board" in machine.run_alone("verify", submission)

    _rate(machine, settings, submission)
    run, scores = _run_of_people(settings)
    assert scores == dict.fromkeys((f"{colour}.plain" for colour in COLOURS), 100.0)
    assert run.suite == NAME and run.state == "published"

    pages = subprocess.run(
        [sys.executable, "-c", PAGES, entry["run_id"]],
        cwd=ROOT,
        env=machine.environment,
        timeout=300,
        check=False,
        capture_output=True,
        text=True,
    )
    charts, panel, heavy = pages.stdout.splitlines() or (pages.stderr, "", "")
    assert "Painters by colour" in charts
    assert "The panel of red.plain" in panel
    assert heavy == "[]"


def _rate(machine: Machine, settings: Settings, submission: str) -> None:
    """A study by two raters, who both call every colour right."""
    study = ("study", "create", "pilot", NAME, "--submission", submission, "--raters", "2")
    machine.run_alone(*study)
    links = machine.run_alone("study", "invite", "pilot", "--count", "2").split()
    machine.run_alone("study", "open", "pilot")
    for link in links:
        key = link.partition("key=")[2]
        rate(settings, key, lambda ask, form: by_reading(ask, replace(form, media=())))
    machine.run_alone("study", "close", "pilot")
    machine.run_alone("study", "publish", "pilot")


def _run_of_people(settings: Settings) -> tuple[Run, dict[str, float | None]]:
    with session(settings.database) as db:
        people = db.exec(select(Judge).where(Judge.kind == "human")).one()
        run = db.exec(select(Run).where(Run.judge == people.fingerprint)).one()
        scores = db.exec(select(Score).where(Score.run_id == run.id)).all()
        db.expunge_all()
    return run, {score.sample_id: score.value for score in scores}


def _suites(path: str, code: str = "print(*suite_names())") -> subprocess.CompletedProcess[str]:
    environment = Machine(Path(), {"ARMILLARY_SUITES_PATH": path}).environment
    command = [sys.executable, "-c", f"from evaluators.suites import *\n{code}"]
    return subprocess.run(
        command, cwd=ROOT, env=environment, timeout=60, check=False, capture_output=True, text=True
    )


def test_outside_suites_come_after_ours_and_only_where_they_are_named(folder: Path) -> None:
    ours = _suites("").stdout.split()

    assert NAME not in ours
    assert _suites(str(folder)).stdout.split() == [*ours, NAME]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "absent, which is no folder" in _suites(str(tmp_path / "absent")).stderr


def test_an_outside_suite_does_not_take_the_place_of_one_of_ours(folder: Path) -> None:
    (folder / NAME).rename(folder / "tailor")

    assert "two suites 'tailor'" in _suites(str(folder)).stderr


def test_a_folder_and_its_suite_have_one_name(folder: Path) -> None:
    (folder / NAME / "__init__.py").write_text(FILES["__init__.py"].replace('"shades"', '"tints"'))

    assert "calls itself 'tints'" in _suites(str(folder), "all_suites()").stderr


def test_the_code_of_an_outside_suite_counts_in_its_fingerprint(folder: Path) -> None:
    code = "from flows.run.scoring_code import code_sha256; print(code_sha256('shades'))"
    before = _suites(str(folder), code).stdout
    with (folder / NAME / "scores.py").open("a", encoding="utf-8") as stream:
        stream.write("\nEDITED = True\n")

    assert len(before.strip()) == 64
    assert _suites(str(folder), code).stdout != before

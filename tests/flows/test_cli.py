"""The command line: light to start, clear when wrong."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.app import app
from infra.settings import Settings
from tests.command import WIDE

HEAVY = (
    "torch",
    "transformers",
    "diffusers",
    "prefect",
    "streamlit",
    "great_expectations",
    "sqlmodel",
    "boto3",
    "scipy",
)
COMMANDS = [
    "demo",
    "init",
    "check",
    "submit",
    "status",
    "evaluate",
    "board",
    "publish",
    "serve",
    "verify",
    "doctor",
]


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    code = f"""
import sys
from typer.testing import CliRunner
from flows.cli import app
said = CliRunner().invoke(app, ["--help"]).output
assert all(name in said for name in {COMMANDS!r}), said
heavy = [name for name in {HEAVY!r} if name in sys.modules]
assert not heavy, heavy
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_all_suites_and_metrics_load_without_scipy() -> None:
    code = """
import importlib, pkgutil, sys
import evaluators.columns, evaluators.metrics
from evaluators.suites import all_suites
assert len(all_suites()) >= 4
for module in pkgutil.iter_modules(evaluators.metrics.__path__, "evaluators.metrics."):
    importlib.import_module(module.name)
heavy = [name for name in ("scipy", "pandas", "torch") if name in sys.modules]
assert not heavy, heavy
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_the_page_loads_no_torch_and_no_prefect() -> None:
    code = """
import importlib, pkgutil, sys
import leaderboard, leaderboard.views
for package in (leaderboard, leaderboard.views):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if not module.name.endswith("app"):
            importlib.import_module(module.name)
heavy = [name for name in ("torch", "transformers", "diffusers", "prefect", "evaluators") if name in sys.modules]
assert not heavy, heavy
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["board", "tailor"], ["status"], ["submit", "x.zip"]])
def test_without_a_database_a_command_says_to_run_init(
    home: Settings, arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "x.zip").write_bytes(b"")

    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 2
    assert "init" in result.output or "There is no file 'x.zip'" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["board", "tailr"], "tailor, liva, sc3, universe"),
        (["board", "tailor", "--metric", "beauty"], "instruction_adherence"),
        (["status", "sub-nothing"], "There is no submission"),
        (["verify", "sub-nothing"], "There is no submission"),
        (["submit"], "Give a BUNDLE, or --model DIR"),
        (["submit", "--model", "nowhere"], "There is no folder 'nowhere'"),
        (["samples", "tailr"], "There is no suite 'tailr'. Did you mean 'tailor'?"),
        (
            ["samples", "tailor", "--subset", "ful"],
            "There is no subset 'ful' in tailor. Did you mean 'full'?",
        ),
        (["samples", "tailor", "--modality", "smell"], "There are: *, image, video."),
        (["board", "tailor", "--scenario", "regulr"], "Did you mean 'regular'?"),
        (["submit", "--model", ".", "--hub", f"org/name@{'0' * 40}"], "name two models"),
        (["rejudge", "tailor", "--judge", "vlm:nowhere"], "which holds no model"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(
    ready: Settings, arguments: list[str], said: str
) -> None:
    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, arguments)

    assert result.exit_code == 2
    assert said in result.output.replace("\n", " ")
    assert "Traceback" not in result.output


def test_a_setting_that_cannot_be_is_named_with_its_value(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_SHARD_SIZE", "none")

    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, ["status"])

    assert result.exit_code == 2
    assert "The setting ARMILLARY_SHARD_SIZE is 'none'" in result.output
    assert "pydantic" not in result.output


def test_a_disk_that_is_full_is_told_in_words(
    ready: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_where: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "index.html")

    monkeypatch.setattr("leaderboard.export.static_site.write", full)

    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, ["export", str(ready.home / "site")])

    assert result.exit_code == 2
    assert "'index.html' cannot be used: No space left on device." in result.output


def test_doctor_tells_what_is_there_and_what_to_do(home: Settings) -> None:
    result = CliRunner().invoke(app, ["doctor"])

    assert "armillary init" in result.output
    assert "scripted" in result.output
    assert "Prefect" not in result.output


def test_a_wrong_judge_is_named_with_the_setting_to_change(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from flows.evaluate.door import receive
    from flows.run.case import open_case
    from flows.workers.judges import UnknownJudge
    from tests.bundles import drawn_outputs

    received = receive(ready, str(drawn_outputs(tmp_path / "bundle.zip")), None, None)
    monkeypatch.setenv("ARMILLARY_JUDGE", "gpt")

    with pytest.raises(UnknownJudge, match="ARMILLARY_JUDGE"):
        open_case(Settings(), received.submission_id)


def test_published_figures_cannot_be_recomputed_and_say_why(ready: Settings) -> None:
    from flows.audit.verify import verify
    from flows.run.case import Stopped
    from infra.db import session
    from leaderboard.queries.ranking import BoardAddress, ranking

    with session(ready.database) as db:
        entry = ranking(db, "tailor", None, BoardAddress("regular", "*", "predictive", "image"))[0]

    with pytest.raises(Stopped, match="from a paper"):
        verify(ready, entry.submission_id)


def test_a_model_folder_with_its_declaration_goes_through_the_same_door(
    ready: Settings, tmp_path: Path
) -> None:
    import json

    from evaluators.models.small import make_text_to_image
    from tests.bundles import declaration

    folder = make_text_to_image(tmp_path / "model")
    (folder / "armillary.json").write_text(json.dumps(declaration(kind="model")))

    first = CliRunner().invoke(app, ["submit", "--model", str(folder)])
    second = CliRunner().invoke(app, ["submit", "--model", str(folder)])

    assert first.exit_code == second.exit_code == 0, first.output
    assert "Received as sub-" in first.output
    assert "handed in before" in second.output

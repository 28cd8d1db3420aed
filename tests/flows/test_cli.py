"""The command line: light to start, clear when wrong."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluators.suites import suite_names
from flows.cli.app import app
from flows.evaluate.door import receive
from infra.settings import Settings
from tests.bundles import drawn_outputs
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
COMMANDS = (
    *("samples", "schema", "import", "check", "submit", "status", "report"),
    *("board", "export", "serve", "demo", "init", "evaluate", "doctor", "study", "operate"),
    *("verify", "audit", "tailor", "liva", "sc3", "universe"),
)
PANELS = ("Submit", "Read", "Run", "Trust", "Suites")
MOST_LINES = 45
"""Of a terminal's screen."""


def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    code = f"""
import sys
from typer.testing import CliRunner
from flows.cli.app import app
said = CliRunner().invoke(app, ["--help"]).output
assert all(name in said for name in {COMMANDS!r}), said
heavy = [name for name in {HEAVY!r} if name in sys.modules]
assert not heavy, heavy
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_help_fits_on_one_screen_and_stands_in_panels() -> None:
    lines = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["--help"]).output.splitlines()
    panels = [match[1] for line in lines if (match := re.match("╭─ (\\w+) ─", line))]

    assert len(lines) <= MOST_LINES
    assert panels == ["Options", *PANELS]
    assert not any(line.startswith("│    ") for line in lines), "a help text is too long"


def test_the_version_is_that_of_the_package() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"armillary {version('armillary')}\n"


def test_completion_can_be_installed() -> None:
    result = CliRunner(env={"_ARMILLARY_COMPLETE": "complete_bash", "COMP_WORDS": "armillary op"})

    words = result.invoke(app, [], env={"COMP_CWORD": "1"}, prog_name="armillary").output

    assert words.split() == ["operate"]


def test_all_suites_and_metrics_load_without_scipy() -> None:
    code = """
import importlib, pkgutil, sys
import evaluators.aggregate.columns, evaluators.metrics
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
unwanted = ("torch", "transformers", "diffusers", "prefect", "evaluators")
heavy = [name for name in unwanted if name in sys.modules]
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
        (["board", "tailr"], ", ".join(suite_names())),
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
        (["audit", "rejudge", "tailor", "--judge", "vlm:nowhere"], "which holds no model"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(
    ready: Settings, arguments: list[str], said: str
) -> None:
    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, arguments)

    assert result.exit_code == 2
    assert said in result.output.replace("\n", " ")
    assert "Traceback" not in result.output


def test_the_beginning_of_an_id_names_a_submission(ready: Settings, tmp_path: Path) -> None:
    bundle = drawn_outputs(tmp_path / "bundle.zip")
    submission = receive(ready, str(bundle), None, None).submission_id

    whole, short = (
        CliRunner().invoke(app, ["status", word]) for word in (submission, submission[:7])
    )

    assert whole.exit_code == 0 and whole.output == short.output
    assert "received" in whole.output


@pytest.mark.parametrize("command", ["status", "evaluate", "report", "verify"])
def test_a_beginning_that_fits_several_submissions_is_refused(
    ready: Settings, tmp_path: Path, command: str
) -> None:
    bundles = [
        drawn_outputs(tmp_path / f"{name}.zip", contact=f"{name}@example.org")
        for name in ("owl", "lark")
    ]
    ids = [receive(ready, str(bundle), None, None).submission_id for bundle in bundles]

    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, [command, "sub-"])

    assert result.exit_code == 2
    assert all(submission in result.output for submission in ids)
    assert "Write more of the id." in result.output


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        (["status"], {"id", "suite", "model", "team", "state"}),
        (["doctor"], {"what", "state", "detail", "next step"}),
        (["operate", "team", "quota", "Owls"], {"suite", "scored", "left"}),
        (
            [
                "board",
                "tailor",
                "--scenario",
                "regular",
                "--setting",
                "predictive",
                "--modality",
                "image",
            ],
            {"rank", "value"},
        ),
    ],
)
def test_rows_of_a_table_are_printed_as_json(
    ready: Settings, tmp_path: Path, arguments: list[str], columns: set[str]
) -> None:
    receive(ready, str(drawn_outputs(tmp_path / "bundle.zip")), None, None)
    CliRunner().invoke(app, ["operate", "team", "add", "Owls"])

    rows = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)

    assert rows and all(columns <= row.keys() for row in rows)


def test_an_empty_table_is_an_empty_list_in_json(ready: Settings) -> None:
    assert json.loads(CliRunner().invoke(app, ["study", "list", "--json"]).stdout) == []


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
    assert "no server is set" in result.output


@pytest.mark.parametrize(("setting", "status"), [("no", 1), ("yes", 0)])
def test_doctor_fails_where_a_model_cannot_be_kept_off_the_network(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, setting: str, status: int
) -> None:
    monkeypatch.setattr("infra.sandbox.confinement.network_can_be_cut", lambda: False)
    monkeypatch.setattr("flows.cli.doctor.installation.LOW_DISK", 0)
    monkeypatch.setenv("ARMILLARY_UNCONFINED", setting)

    result = CliRunner().invoke(app, ["doctor"])

    assert ready.home.exists() and result.exit_code == status
    assert "nor forbid itself sockets" in result.output


def test_doctor_tells_what_a_model_wants_before_it_is_handed_in(
    home: Settings, tmp_path: Path
) -> None:
    from evaluators.models import small

    model = small.make_text_to_video(tmp_path / "model")
    (tmp_path / "model_index.json").write_text('{"_class_name": "StableAudioPipeline"}')

    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, ["doctor", "--model", str(model)])
    wrong = CliRunner(env={"COLUMNS": WIDE}).invoke(app, ["doctor", "--model", str(tmp_path)])

    assert result.exit_code == 0
    assert "50 steps, guidance 5, 832x480, 81 frames at 16" in result.output
    assert "fits a 8 GB card; weights 0.0 GB in bf16" in result.output
    assert wrong.exit_code == 1 and "StableAudioPipeline" in wrong.output


def test_a_wrong_judge_is_named_with_the_setting_to_change(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from flows.run.case import open_case
    from flows.workers.judges import UnknownJudge

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

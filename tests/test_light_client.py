"""What a submitter installs: no orchestration, no page, no models, and the same commands."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.command import ROOT
from tests.submissions.test_starter import painted

HEAVY = (
    *("torch", "transformers", "diffusers", "peft", "prefect", "streamlit", "altair", "pandas"),
    *("great_expectations", "fastapi", "starlette", "uvicorn", "boto3", "botocore", "psycopg"),
    *("scipy", "huggingface_hub", "pyarrow", "msgpack", "websockets", "mujoco", "robosuite"),
    *("vizdoom", "httpx", "openai"),
)
WITHOUT = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from flows.cli.app import app
app()
"""


def light(home: Path, *arguments: str) -> str:
    """Run a command where only the light client's libraries are."""
    environment = {**os.environ, "ARMILLARY_HOME": str(home), "COLUMNS": "400"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        cwd=ROOT,
        env=environment,
        timeout=200,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode in (0, 2), done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    return done.stdout


def test_a_submitters_commands_run_without_what_runs_a_board(tmp_path: Path) -> None:
    folder, key = tmp_path / "my-entry", f"arm_{'a' * 43}"
    at_nobody = ("--server", "http://127.0.0.1:9", "--token", key)

    light(tmp_path, "new", "tailor", str(folder), "--subset", "demo")
    painted(folder)
    checked = light(tmp_path, "check", str(folder))
    packed = light(tmp_path, "pack", str(folder))
    handed_in = light(tmp_path, "submit", f"{folder}.zip", *at_nobody)
    watched = light(tmp_path, "status", "sub-0123456789ab", *at_nobody)

    assert "Good: my-entry, 30 files" in checked
    assert "Written" in packed
    assert "The server does not answer" in handed_in
    assert "The server does not answer" in watched


def test_a_bare_installation_brings_none_of_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {name.partition(">")[0].partition("[")[0] for name in project["dependencies"]}

    assert not names & {name.replace("_", "-") for name in HEAVY} - {"huggingface_hub"}
    assert "huggingface_hub" not in names
    for extra in ("board", "models", "dask"):
        assert "armillary[server]" in project["optional-dependencies"][extra]

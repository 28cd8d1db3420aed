"""The wheel as a stranger gets it: what is in it, and the way to the board from an environment that
has nothing else."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from tests.api.test_stranger import board, host
from tests.command import ROOT, Machine
from tests.submissions.test_starter import painted

__all__ = ["board", "host"]
PACKAGES = ("evaluators", "flows", "infra", "leaderboard", "submissions")
HEAVY = ("fastapi", "prefect", "scipy", "streamlit", "torch", "transformers")
INDEX = ("pypi.org", 443)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the tree, so that nothing is left behind in it."""
    copy, to = tmp_path_factory.mktemp("tree") / "tree", tmp_path_factory.mktemp("wheel")
    copy.mkdir()
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, copy / name)
    build = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir")
    subprocess.run([sys.executable, *build, str(to), str(copy)], check=True, timeout=300)
    return next(to.glob("*.whl"))


def test_the_wheel_holds_the_packages_their_data_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"armillary", *PACKAGES}
    assert not any(name.startswith("flows/client/") for name in names)
    for needed in ("armillary/py.typed", "armillary/examples/hand_in.ipynb"):
        assert needed in names
    assert any(name.startswith("evaluators/suites/tailor/data/") for name in names)
    assert any(name.endswith("uploader.js") for name in names)


@pytest.fixture
def empty(wheel: Path, tmp_path: Path) -> Path:
    """The programs of a new environment in which only the wheel was installed."""
    try:
        socket.create_connection(INDEX, timeout=5).close()
    except OSError:
        pytest.skip("the wheel's libraries are fetched from the package index, which is not here")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    programs = tmp_path / "env" / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", str(wheel)], check=True, timeout=900)
    return programs


@pytest.mark.long
def test_a_stranger_reaches_the_board_from_an_empty_environment_in_six_commands(
    empty: Path, board: tuple[str, str], host: Machine, tmp_path: Path
) -> None:
    """Installing is the first of the six."""
    address, token = board
    place = tmp_path / "elsewhere"
    place.mkdir()

    def run(*arguments: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "ARMILLARY_TOKEN": token}
        command = [str(empty / "armillary"), *arguments]
        done = subprocess.run(
            command, cwd=place, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    run("new", "tailor", "my-entry", "--subset", "demo", "--team", "Owls")
    painted(place / "my-entry")
    run("check", "my-entry")
    run("pack", "my-entry")
    said = run("submit", "my-entry.zip", "--server", address)
    received = said.split("Received as ")[1].split(".")[0]
    worker = threading.Thread(target=host.run_alone, args=("evaluate", received))
    worker.start()
    watched = run("status", received, "--server", address, "--watch")
    worker.join()

    listed = subprocess.run(
        [empty / "pip", "list"], check=True, capture_output=True, text=True
    ).stdout
    assert "published" in watched
    assert not [name for name in HEAVY if f"\n{name} " in listed]

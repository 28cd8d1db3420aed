"""Programs that need a virtual environment of their own, made once for this checkout."""

from __future__ import annotations

import fcntl
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .unavailable import Unavailable

TOOLS = Path(__file__).resolve().parents[2] / ".armillary-tools"


def installed(name: str, requirement: str) -> Path:
    """Return the virtual environment with the requirement in it; the first caller makes it, the
    others wait."""
    TOOLS.mkdir(exist_ok=True)
    (TOOLS / ".gitignore").write_text("*\n")
    venv, wanted = TOOLS / name, f"{requirement} on Python {platform.python_version()}\n"
    with _locked(TOOLS / f"{name}.lock"):
        # Written last, so that an installation that broke off is made anew.
        mark = venv / "installed.txt"
        if not mark.exists() or mark.read_text() != wanted:
            shutil.rmtree(venv, ignore_errors=True)
            _run(
                [sys.executable, "-m", "venv", str(venv)], f"make a virtual environment for {name}"
            )
            pip = [
                str(venv / "bin/python"),
                "-m",
                "pip",
                "--disable-pip-version-check",
                "--retries",
                "1",
            ]
            _run([*pip, "install", "--quiet", requirement], f"install {requirement}")
            mark.write_text(wanted)
    return venv


def package_alone(requirement: str) -> Path:
    """Return a folder with one package and nothing it asks for, where its pins would not go with
    ours; put it on the path of a test."""
    TOOLS.mkdir(exist_ok=True)
    (TOOLS / ".gitignore").write_text("*\n")
    folder = TOOLS / "alone" / requirement
    with _locked(TOOLS / "alone.lock"):
        if not (folder / "installed.txt").exists():
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "1"]
            target = ["install", "--quiet", "--no-deps", "--target", str(folder)]
            _run([*pip, *target, requirement], f"install {requirement}")
            (folder / "installed.txt").write_text("whole\n")
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock; the kernel frees it when we die."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str], doing: str) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise Unavailable(f"Could not {doing}: {lines[-1]}")

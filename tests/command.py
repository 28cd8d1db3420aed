"""Running the command line as a user does: another process, its own environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests.warm import shared

ROOT = Path(__file__).parent.parent
WIDE = "1000"
"""So many columns that no sentence is broken into lines."""


@dataclass(frozen=True)
class Machine:
    """A place to run `armillary` in: a home and what else is set."""

    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Everything of ours comes from here; nothing leaks in from the outside."""
        clean = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("ARMILLARY_", "PREFECT_", "AWS_"))
        }
        ours = {"ARMILLARY_HOME": str(self.home), "ARMILLARY_EXAM": "off"}
        return {**clean, **ours, "COLUMNS": WIDE, **self.variables}

    def run(self, *arguments: str, status: int = 0) -> str:
        """Run a command to its end and return what it printed; another exit status fails the
        test."""
        with NamedTemporaryFile("r") as said:
            with shared() as warm:
                warm.start(*arguments, environment=self.environment, said=Path(said.name))
                ended = warm.wait()
            text = said.read()
        assert ended == status, f"{arguments}: {ended}\n{text}"
        return text

    def run_alone(self, *arguments: str, status: int = 0) -> str:
        """The same in a process that imports everything itself."""
        done = subprocess.run(
            [sys.executable, "-m", "flows.cli.app", *arguments],
            cwd=ROOT,
            env=self.environment,
            timeout=300,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "flows.cli.app", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def submit(self, bundle: Path) -> str:
        """Hand a bundle in and return its id."""
        said = self.run("submit", str(bundle))
        return next(word.strip(".") for word in said.split() if word.startswith("sub-"))

"""Many starts of the command line for one import: a process that has loaded everything forks one child a command."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from types import TracebackType

from tests.command import ROOT, Machine


class Warm:
    """Starts `armillary` on a machine, one command at a time, each in a process group of its own."""

    def __init__(self, machine: Machine) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.warm"],
            cwd=ROOT,
            env=machine.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._group = 0

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._parent.communicate(timeout=60)

    def start(self, *arguments: str) -> None:
        """Begin a command."""
        assert self._parent.stdin and self._parent.stdout
        self._parent.stdin.write(json.dumps(arguments) + "\n")
        self._parent.stdin.flush()
        self._group = int(self._parent.stdout.readline())

    def running(self) -> bool:
        """Whether the command is still at work."""
        assert self._parent.stdout
        return not select.select([self._parent.stdout], [], [], 0)[0]

    def kill(self) -> None:
        """Kill -9 the command and all it started, unless it has just ended."""
        with suppress(ProcessLookupError):
            os.killpg(self._group, signal.SIGKILL)

    def wait(self) -> int:
        """The command's exit status, when it has ended."""
        assert self._parent.stdout
        return int(self._parent.stdout.readline())


def _serve() -> None:
    import great_expectations  # noqa: F401

    import flows.evaluate  # noqa: F401

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _command(json.loads(line))
        os.setpgid(child, child)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _command(arguments: list[str]) -> None:
    from flows.cli import app

    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    sys.argv = ["armillary", *arguments]
    status = 1
    try:
        app()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os._exit(status)


if __name__ == "__main__":
    _serve()

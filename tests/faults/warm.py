"""Many runs for one import: a process that has loaded everything forks one child a run."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from tests.command import ROOT, Machine


class Warm:
    """Starts runs on a machine, one at a time, each in a process group of its own: `armillary`, or another module's."""

    def __init__(self, machine: Machine, module: str = "tests.faults.warm") -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", module],
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


def serve(run: Callable[..., None]) -> None:
    """What the process does: for each line of arguments a child that runs; its number, and in the end its status."""
    import great_expectations  # noqa: F401

    import flows.evaluate  # noqa: F401

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _ended_with(run, json.loads(line))
        os.setpgid(child, child)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _ended_with(run: Callable[..., None], arguments: list[str]) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    status = 1
    try:
        run(*arguments)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os._exit(status)


def _command(*arguments: str) -> None:
    from flows.cli import app

    sys.argv = ["armillary", *arguments]
    app()


if __name__ == "__main__":
    serve(_command)

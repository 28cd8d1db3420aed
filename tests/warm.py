"""Many runs of `armillary` for one import: each is a child of a process that has loaded
everything (`tests/forked.py`).

As a script it is what such a child runs: the command line with the arguments.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import NoReturn

from tests import forked

ROOT = Path(__file__).parent.parent
IMPORTED = ("great_expectations", "flows.cli.app", "flows.evaluate.flow")


class Warm:
    """Starts runs, one at a time, each in a process group of its own: of `armillary`, or of another
    module that ends with `leave_after`."""

    def __init__(self, module: str = "tests.warm") -> None:
        self._module = module
        self._folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self._door = Path(self._folder.name) / "fork"
        self._parent = subprocess.Popen(
            [sys.executable, "-P", forked.__file__, "serve", str(self._door), *IMPORTED],
            cwd=ROOT,
            env={**os.environ, "PREFECT_LOGGING_LEVEL": "CRITICAL", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
        )
        self._line: socket.socket | None = None
        self._group = 0

    def __enter__(self) -> Warm:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.end()

    def start(
        self, *arguments: str, environment: Mapping[str, str], said: Path | None = None
    ) -> None:
        """Begin a command; what it prints goes to a file, if one is named."""
        while not self._door.exists():
            assert self._parent.poll() is None, "The process that forks has ended."
            time.sleep(0.01)
        with (
            Path(os.devnull).open("rb") as nothing,
            Path(said or os.devnull).open("ab") as printed,
        ):
            streams = nothing.fileno(), printed.fileno(), printed.fileno()
            self._line = forked.ask(str(self._door), self._module, arguments, environment, streams)
        self._group = self._heard()

    def running(self) -> bool:
        """Whether the command is still at work."""
        assert self._line
        return not select.select([self._line], [], [], 0)[0]

    def kill(self) -> None:
        """Kill -9 the command and all it started, unless it has just ended."""
        if self._group:
            with suppress(ProcessLookupError):
                os.killpg(self._group, signal.SIGKILL)

    def wait(self) -> int:
        """The command's exit status, when it has ended."""
        status = self._heard()
        self._group = 0
        assert self._line
        self._line.close()
        return status

    def end(self) -> None:
        """Kill what is running, and the process itself."""
        self.kill()
        self._parent.kill()
        self._parent.wait()
        self._folder.cleanup()

    def _heard(self) -> int:
        """The next line, and not a byte of the one after it."""
        assert self._line
        with self._line.makefile("rb", buffering=0) as lines:
            return int(lines.readline())


def leave_after(run: Callable[..., None], *arguments: str) -> NoReturn:
    """Run as a process of its own would, and do what is done at exit; only to tidy the copied
    memory up is left out."""
    status = 1
    try:
        _settle()
        run(*arguments)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _settle() -> None:
    """Prefect read its settings when it was imported, in another environment."""
    from prefect.context import refresh_global_settings_context

    from flows.workers.executor import prepare
    from infra.settings import Settings

    prepare(Settings())
    refresh_global_settings_context()


def _command(*arguments: str) -> None:
    from flows.cli.app import app

    sys.argv = ["armillary", *arguments]
    app()


_SHARED: list[Warm] = []


@contextmanager
def shared() -> Iterator[Warm]:
    """The one that the tests of this process share; a test that ends before its command takes it
    along."""
    if not _SHARED:
        _SHARED.append(Warm())
    try:
        yield _SHARED[0]
    except BaseException:
        _SHARED.pop().end()
        raise


if __name__ == "__main__":
    leave_after(_command, *sys.argv[1:])

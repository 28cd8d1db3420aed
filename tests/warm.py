"""Many runs for one import: a process that has loaded everything forks one child a run."""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn


class Warm:
    """Starts runs, one at a time, each in a process group of its own: of `armillary`, or of another
    module."""

    def __init__(self, module: str = "tests.warm") -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=Path(__file__).parent.parent,
            env={**os.environ, "PREFECT_LOGGING_LEVEL": "CRITICAL"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
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
        assert self._parent.stdin
        wanted = {
            "arguments": arguments,
            "environment": dict(environment),
            "said": str(said or os.devnull),
        }
        self._parent.stdin.write(json.dumps(wanted) + "\n")
        self._parent.stdin.flush()
        self._group = self._heard()

    def running(self) -> bool:
        """Whether the command is still at work."""
        assert self._parent.stdout
        return not select.select([self._parent.stdout], [], [], 0)[0]

    def kill(self) -> None:
        """Kill -9 the command and all it started, unless it has just ended."""
        if self._group:
            with suppress(ProcessLookupError):
                os.killpg(self._group, signal.SIGKILL)

    def wait(self) -> int:
        """The command's exit status, when it has ended."""
        status = self._heard()
        self._group = 0
        return status

    def end(self) -> None:
        """Kill what is running, and the process itself."""
        self.kill()
        self._parent.kill()
        self._parent.wait()

    def _heard(self) -> int:
        assert self._parent.stdout
        return int(self._parent.stdout.readline())


def serve(run: Callable[..., None]) -> None:
    """What the process does: for each line a child that runs what it says; its number, and in the
    end its status."""
    import great_expectations  # noqa: F401

    import flows.evaluate.flow  # noqa: F401

    # What is here now is nobody's garbage; to look through it in each child would copy it.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(run, **json.loads(line))
        os.setpgid(child, child)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(
    run: Callable[..., None], arguments: list[str], environment: dict[str, str], said: str
) -> NoReturn:
    """Run as a process of its own would, and do what is done at exit; only to tidy the copied
    memory up is left out."""
    _stream(os.devnull, os.O_RDONLY, 0)
    for number in (1, 2):
        _stream(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, number)
    os.environ.clear()
    os.environ.update(environment)
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


def _stream(path: str, flags: int, number: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, number)
    os.close(opened)


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
    serve(_command)

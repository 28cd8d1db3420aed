"""A process that runs what was handed in: few rights, a folder of its own, replaced when it
dies."""

from __future__ import annotations

import json
import logging
import os
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from evaluators.contracts import CannotProduce
from evaluators.suites import SUITES_PATH
from evaluators.suites.banks import BANKS_PATH
from flows.durable.lease import LeaseLost, check_lease
from flows.workers.confined.fault_rules import ChildEnd, reason_or_raise

ROOT = Path(__file__).parents[3]
LEASE_CHECK_SECONDS = 1.0
PASSED_ON = (
    "PATH",
    "LANG",
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "LD_LIBRARY_PATH",
    SUITES_PATH,
    BANKS_PATH,
)
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TQDM_DISABLE": "1",
}


PATIENCE = 10
"""A sample may take so many times as long as the slowest one before it."""
MOST_STDERR = 8_000
MOST_LINE = 16 << 20
"""The longest answer of a child; what goes on for longer is no answer."""
CHUNK = 1 << 16
log = logging.getLogger("armillary")
_keeper: ContextVar[Callable[[str], object] | None] = ContextVar("stderr", default=None)


@contextmanager
def keep_stderr(keep: Callable[[str], object]) -> Iterator[None]:
    """While the block runs, what a failing child last wrote is given to `keep` too."""
    token = _keeper.set(keep)
    try:
        yield
    finally:
        _keeper.reset(token)


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a model may take: seconds to load and for each sample, bytes of memory (None: no limit)
    and of a file. A model whose samples are measured to take long gets longer for the next.

    `hidden` are folders of ours in which it reads nothing but the model itself. `unconfined` lets
    it run where the system gives no way to fence it.
    """

    load_seconds: float = 1800
    seconds: float = 1800
    memory: int | None = None
    file_bytes: int = 8 << 30
    open_files: int = 1024
    hidden: tuple[str, ...] = ()
    unconfined: bool = False


class StderrTail:
    """The last of what a process writes to its standard error, read as it comes, so that it never
    waits for us and never fills anything."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe, self._tail = pipe, b""
        self._reader = threading.Thread(target=self._read, daemon=True, name="stderr")
        self._reader.start()

    def text(self) -> str:
        """What is left of it, in characters that a log can keep."""
        self._reader.join(0.2)
        words = self._tail.decode("utf-8", "replace").strip()
        return "".join(letter for letter in words if letter.isprintable() or letter in "\n\t")

    def forget(self) -> None:
        """Begin anew."""
        self._tail = b""

    def _read(self) -> None:
        with self._pipe:
            while chunk := self._pipe.read(4096):
                self._tail = (self._tail + chunk)[-MOST_STDERR:]


class ModelBroke(Exception):
    """The child told of an error that is not one sample's; says which."""


class Child:
    """Started when it is needed and again after its end; whoever asks reads the answers before
    asking again. `shown` is what it sees of an environment beside the little that every child
    does."""

    def __init__(
        self,
        job: Mapping[str, Any],
        limits: ChildLimits,
        command: Sequence[str],
        shown: Mapping[str, str] | None = None,
    ) -> None:
        self._shown = dict(shown or {})
        self._job, self.limits = {**job, **asdict(limits)}, limits
        self._command = tuple(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._stderr: StderrTail | None = None
        self._unread = bytearray()
        self._slowest = 0.0
        self.ready: Mapping[str, Any] = {}

    def start(self, near: Path) -> Path:
        """See that it runs; the one folder that it may write to, on the same disk as `near`."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._folder = tempfile.TemporaryDirectory(prefix="model-", dir=near.resolve().parent)
            self._process = self._started(self._folder.name)
            self.ready = self._first_word()
        assert self._folder
        return Path(self._folder.name)

    def ask(self, message: Mapping[str, Any]) -> None:
        """Tell it something; what it wrote before is not about this."""
        assert self._process and self._process.stdin and self._stderr
        self._stderr.forget()
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # whoever reads next sees that it is gone

    def answer(self, seconds: float | None = None) -> dict[str, Any] | None:
        """What it says next; None if it ended or stays silent for too long."""
        assert self._process and self._process.stdout
        began = time.monotonic()
        line = self._line(began + (seconds or self.patience))
        if line is None:
            return None
        if seconds is None:
            self._slowest = max(self._slowest, time.monotonic() - began)
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            self.close()
            kind, _, text = reply["error"].partition(": ")
            if kind == CannotProduce.__name__:
                raise CannotProduce(text)
            raise ModelBroke(self.reason_of(reply["error"]))
        return reply

    @property
    def patience(self) -> float:
        """Seconds for the next sample: as the settings say, or many times what the slowest one
        took."""
        return max(self.limits.seconds, PATIENCE * self._slowest)

    def _line(self, until: float) -> bytes | None:
        """The next whole line by then: one that is begun and never ended keeps nobody waiting, and
        one without end fills nothing."""
        assert self._process and self._process.stdout
        looked = 0
        while (end := self._unread.find(b"\n", looked)) < 0:
            looked = len(self._unread)
            if looked > MOST_LINE:
                self.close()
                raise ModelBroke(f"The model's process answered with over {MOST_LINE} bytes.")
            chunk = os.read(self._process.stdout.fileno(), CHUNK) if self._speaks(until) else b""
            if not chunk:
                return None
            self._unread += chunk
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _speaks(self, until: float) -> bool:
        """Whether it says something by then, its end included. Who loses the lease meanwhile ends
        it: nobody waits for its answer any more. `select` knows no descriptors beyond the first
        thousand."""
        assert self._process and self._process.stdout
        watch = select.poll()
        watch.register(self._process.stdout, select.POLLIN | select.POLLHUP)
        while (left := until - time.monotonic()) > 0:
            try:
                check_lease()
            except LeaseLost:
                self.close()
                raise
            if watch.poll(1000 * min(left, LEASE_CHECK_SECONDS)):
                return True
        return False

    def reason_of(self, error: str) -> str:
        """The reason to write down for an error of the model; WorkerFault where it is ours."""
        self._log_stderr(error)
        return reason_or_raise(ChildEnd(error=error, memory=self.limits.memory))

    def fate(self) -> str:
        """End it after it gave no answer, and say what that was; WorkerFault where it is ours."""
        assert self._process
        status = _status(self._process)
        self._log_stderr("no answer" if status is None else f"status {status}")
        patience = self.patience
        self.close()
        return reason_or_raise(ChildEnd(status, seconds=patience))

    def _log_stderr(self, about: str) -> None:
        """Its last words to the operator's log, which is by submission."""
        if self._stderr and (words := self._stderr.text()):
            log.warning("a model's process failed (%s); it wrote: %s", about, words)
            if keep := _keeper.get():
                keep(words)

    def close(self) -> None:
        """End it, and remove what it left."""
        if self._process:
            self._process.kill()
            self._process.wait()
        if self._folder:
            self._folder.cleanup()
        self._process = self._folder = None
        self._unread.clear()

    def _started(self, folder: str) -> subprocess.Popen[bytes]:
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        clean = {
            **environment,
            **OFFLINE,
            "HOME": os.devnull,
            **self._shown,
            "TMPDIR": folder,
            "PYTHONPATH": str(ROOT),
        }
        process = subprocess.Popen(
            self._command, env=clean, start_new_session=True, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stderr
        self._stderr = StderrTail(process.stderr)
        return process

    def _first_word(self) -> Mapping[str, Any]:
        assert self._folder
        self.ask({**self._job, "own": self._folder.name})
        ready = self.answer(self.limits.load_seconds)
        if ready is None:
            raise ModelBroke(f"The model could not be loaded: {self.fate()}")
        return ready


def _status(process: subprocess.Popen[bytes]) -> int | None:
    """Its exit status, None while it lives: its pipe closes a moment before it can be waited
    for."""
    try:
        return process.wait(0.5)
    except subprocess.TimeoutExpired:
        return None


class NotItsOwn(Exception):
    """The child named a file that it did not make."""


def move_out(named: str, own: Path, folder: Path) -> Path:
    """A file that the child made, moved out of its reach; named again, it is where it was moved
    to."""
    path = Path(named)
    if ".." in path.parts or not path.parent.resolve().is_relative_to(own.resolve()):
        raise NotItsOwn("The model's process named a file outside its own folder.")
    target = folder / path.name
    if os.path.lexists(path):
        path.replace(target)
    if target.is_symlink() or not target.is_file():
        target.unlink(missing_ok=True)
        raise NotItsOwn("The model's process named something that is no file.")
    return target

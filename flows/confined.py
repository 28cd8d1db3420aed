"""A handed-in model, run in a child with limits: what it does to itself costs its own sample, and nothing of ours."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluators.contracts import CannotProduce, Generator, Outcome, Output, Production, Sample
from evaluators.suites import suite_named
from flows.generating import PATH

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "flows.generating")
PASSED_ON = ("PATH", "LANG", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "LD_LIBRARY_PATH")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "TQDM_DISABLE": "1"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a model may take: seconds to load and for each sample, bytes of memory (None: no limit) and of a file."""

    load_seconds: float = 1800
    seconds: float = 1800
    memory: int | None = None
    file_bytes: int = 8 << 30
    open_files: int = 1024


class ModelBroke(Exception):
    """The child told of an error that is not one sample's; says which."""


class Confined:
    """A generator whose model lives in a child; the child is started when it is needed and replaced when it dies."""

    def __init__(self, job: Mapping[str, Any], limits: Limits, command: Sequence[str] = COMMAND) -> None:
        self._job = {**job, **asdict(limits)}
        self._limits, self._command = limits, tuple(command)
        self._child: subprocess.Popen[bytes] | None = None
        self._busy = threading.Lock()
        self.has_network: bool | None = None

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """One output a sample. A sample that ends the child is the model's failure, and the next gets a new child."""
        with self._busy:
            left = [sample.id for sample in samples]
            while left:
                for output in self._some(left, folder):
                    left.remove(output.sample_id)
                    yield output

    def _some(self, names: Sequence[str], folder: Path) -> Iterator[Output]:
        """What the child makes of these until it ends; then the sample it was at has failed, and the rest is left."""
        child = self._child if self._child and self._child.poll() is None else self._start()
        self._write(child, {"samples": list(names), "folder": str(folder.resolve())})
        waiting = list(names)
        while waiting:
            said = self._read(child, self._limits.seconds)
            if said is None:
                yield Output(waiting[0], Outcome.MODEL_FAILED, reason=self._fate(child))
                return
            if "end" in said:
                missing = (Output(name, Outcome.MODEL_FAILED, reason="The model gave nothing.") for name in waiting)
                yield from missing
                return
            waiting.remove(said["sample_id"])
            yield _output(said)
        self._read(child, self._limits.seconds)  # its word that this was all

    def close(self) -> None:
        """End the child."""
        if self._child:
            self._child.kill()
            self._child.wait()
            self._child = None

    def _start(self) -> subprocess.Popen[bytes]:
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        clean = {**kept, **OFFLINE, "HOME": os.devnull, "PYTHONPATH": str(ROOT)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        child: subprocess.Popen[bytes] = subprocess.Popen(
            self._command, env=clean, start_new_session=True, bufsize=0, **pipes
        )  # type: ignore[call-overload]
        self._child = child
        self._write(child, self._job)
        ready = self._read(child, self._limits.load_seconds)
        if ready is None:
            raise ModelBroke(f"The model could not be loaded: {self._fate(child)}")
        self.has_network = bool(ready["network"])
        return child

    def _write(self, child: subprocess.Popen[bytes], said: Mapping[str, Any]) -> None:
        assert child.stdin
        try:
            child.stdin.write(json.dumps(said).encode() + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            return  # whoever reads next sees that the child is gone

    def _read(self, child: subprocess.Popen[bytes], seconds: float) -> dict[str, Any] | None:
        """What the child says next; None if it ended or stays silent for so long."""
        assert child.stdout
        ready, _, _ = select.select([child.stdout], [], [], seconds)
        line = child.stdout.readline() if ready else b""
        if not line.endswith(b"\n"):
            return None
        said: dict[str, Any] = json.loads(line)
        if "error" in said:
            self.close()
            kind, _, text = said["error"].partition(": ")
            raise CannotProduce(text) if kind == CannotProduce.__name__ else ModelBroke(said["error"])
        return said

    def _fate(self, child: subprocess.Popen[bytes]) -> str:
        ended = child.poll() is not None or _ending(child)
        self.close()
        return "The model ended its own process." if ended else f"It took over {self._limits.seconds:g} seconds."


def _ending(child: subprocess.Popen[bytes]) -> bool:
    """Whether the child is gone by itself: its pipe closes a moment before it can be waited for."""
    try:
        child.wait(0.5)
    except subprocess.TimeoutExpired:
        return False
    return True


def _output(said: Mapping[str, Any]) -> Output:
    file = Path(said["file"]) if said["file"] else None
    beside = {name: Path(path) for name, path in said.get("beside", {}).items()}
    return Output(said["sample_id"], Outcome(said["outcome"]), file, said["record"], said["reason"], beside)


def confined(suite: str, given: Production) -> Generator:
    """The suite's generator in a child, kept for all shards of a model; here, if it is given what cannot travel."""
    try:
        return _kept(suite, json.dumps(plain(given), sort_keys=True))
    except TypeError:
        produce = suite_named(suite).produce
        assert produce, f"{suite} takes models and does not say how to run them"
        return produce(given)


@lru_cache(maxsize=1)
def _kept(suite: str, given: str) -> Confined:
    return Confined({"suite": suite, "given": json.loads(given)}, Limits(memory=_memory()))


def plain(given: Production) -> dict[str, Any]:
    """What a suite is given as JSON; paths are marked as such."""
    values = {one.name: getattr(given, one.name) for one in fields(given)}
    return {name: {PATH: str(value.resolve())} if isinstance(value, Path) else value for name, value in values.items()}


def _memory() -> int | None:
    """All the memory there is; no limit where an accelerator's driver maps more than that."""
    if Path("/dev/nvidia0").exists() or Path("/dev/kfd").exists():
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

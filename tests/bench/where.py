"""Where the CPU time of some work goes, function by function, by looking at every thread's stack
many times a second; a look is worth the CPU time that the thread spent since the one before."""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.command import ROOT

LOOK_SECONDS = 0.002
OURS = ("evaluators", "flows", "infra", "leaderboard", "submissions")


@contextmanager
def spent_in() -> Iterator[dict[str, float]]:
    """CPU seconds in each of our functions, with what they call, while the block runs."""
    seconds: dict[str, float] = defaultdict(float)
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(seconds, stop), daemon=True)
    watcher.start()
    try:
        yield seconds
    finally:
        stop.set()
        watcher.join()


def _watch(seconds: dict[str, float], stop: threading.Event) -> None:
    spent: dict[int, float] = {}
    own = threading.get_native_id()
    while not stop.is_set():
        time.sleep(LOOK_SECONDS)
        frames = sys._current_frames()
        for thread in threading.enumerate():
            if thread.native_id in (None, own) or thread.ident not in frames:
                continue
            now = _cpu_of(thread.native_id or 0)
            since = now - spent.get(thread.native_id or 0, now)
            spent[thread.native_id or 0] = now
            for name in _functions(frames[thread.ident]) if since > 0 else ():
                seconds[name] += since


def _cpu_of(thread: int) -> float:
    try:
        text = Path(f"/proc/self/task/{thread}/schedstat").read_text()
    except OSError:
        return 0.0
    return int(text.split()[0]) / 1e9


def _functions(frame: FrameType | None) -> set[str]:
    """Our functions in a stack, each once."""
    names = set()
    while frame:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in OURS:
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            names.add(f"{module}.{frame.f_code.co_name}")
        frame = frame.f_back
    return names

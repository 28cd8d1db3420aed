"""Many Python processes for one import: one that has imported everything forks a child for each
that asks.

As a script, `forked.py serve SOCKET MODULE[:FUNCTION[:ARGUMENT]]...` imports the modules, calls the
functions and waits; `forked.py run SOCKET MODULE ARGUMENT...` has it run a module as `python -m`
does, in a process of its own that lives and dies with the one that asked. Where the standard input
of `serve` is a pipe, it ends with who holds the other end.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

PR_SET_PDEATHSIG = 1


def ask(
    path: str,
    module: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
) -> socket.socket:
    """Ask for a process in our folder. What comes back is a line with its number, which is that of
    its group too, and in the end one with its exit status."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(path)
    request = json.dumps([module, list(arguments), dict(environment), os.getcwd()]).encode()
    socket.send_fds(line, [len(request).to_bytes(8, "big")], list(streams))
    line.sendall(request)
    return line


def run(path: str, module: str, arguments: list[str]) -> int:
    """Ask for a process with our environment, folder and streams; end as it ends."""
    with ask(path, module, arguments, os.environ, (0, 1, 2)) as line:
        _number, status = [*line.makefile().read().split(), "1", "1"][:2]
    if int(status) < 0:
        os.kill(os.getpid(), -int(status))
    return int(status)


def serve(path: str, modules: list[str]) -> None:
    """Import, then fork for each that asks; who goes away takes its process with it. Once the path
    is there, it answers."""
    import selectors
    from importlib import import_module

    for module, *called in (each.split(":") for each in modules):
        found = import_module(module)
        if called:
            getattr(found, called[0])(*called[1:])
    # What is here now is nobody's garbage; to look through it in each child would copy it.
    gc.collect()
    gc.freeze()
    door = socket.socket(socket.AF_UNIX)
    door.bind(f"{path}.new")
    door.listen(64)
    os.rename(f"{path}.new", path)
    waiting = selectors.DefaultSelector()
    waiting.register(door, selectors.EVENT_READ)
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        waiting.register(0, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj == 0:
                sys.exit()
            if key.fileobj is door:
                _begin(door, waiting)
            elif key.fileobj in waiting.get_map():
                _end(key, waiting)


def _begin(door: socket.socket, waiting: Any) -> None:
    line, _ = door.accept()
    size, streams, _, _ = socket.recv_fds(line, 8, 3)
    wanted = line.makefile("rb").read(int.from_bytes(size, "big"))
    child = os.fork()
    if child == 0:
        for key in list(waiting.get_map().values()):
            os.close(key.fd)
        os.setsid()
        line.sendall(f"{os.getpid()}\n".encode())
        line.close()
        sys.exit(_become(streams, *json.loads(wanted)))
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(child)
    waiting.register(line, 1, (child, ended, line))
    waiting.register(ended, 1, (child, ended, line))


def _become(
    streams: list[int], module: str, arguments: list[str], environment: dict[str, str], folder: str
) -> int:
    import ctypes
    import random
    import runpy
    from pathlib import Path

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    Path("/proc/self/comm").write_text(module)
    random.seed()
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _end(key: Any, waiting: Any) -> None:
    """The process has ended, or who asked for it has."""
    child, ended, line = key.data
    if key.fileobj is line:
        signal.pidfd_send_signal(ended, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for each in (line, ended):
        waiting.unregister(each)
    with suppress(OSError):
        line.sendall(f"{status}\n".encode())
    line.close()
    os.close(ended)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(run(sys.argv[2], sys.argv[3], sys.argv[4:]))

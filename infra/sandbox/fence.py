"""File access rules for a process, by Linux's Landlock: it writes only into its own folders and
reads no hidden one.

Names of hidden files can be seen, what is in them cannot. Where the kernel has no Landlock nothing
changes.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION, BENEATH = 1, 1
NO_NEW_PRIVILEGES = 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READS = EXECUTE | READ_FILE | READ_DIR
WRITES = WRITE_FILE | sum(1 << bit for bit in range(4, 13))
MOVE, TRUNCATE = 1 << 13, 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
"""The rights that a rule for a single file may name."""
BIND_TCP, CONNECT_TCP = 1, 2
FOREIGN_SOCKETS, FOREIGN_SIGNALS = 1, 2
DEVICES = ("null", "zero", "full", "random", "urandom", "nvidia*", "kfd", "dri/*")


class _Rules(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scope", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Which Landlock the kernel has; 0 is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(CREATE_RULESET, None, 0, ASK_VERSION))


def fence(
    writable: Sequence[Path], hidden: Sequence[Path] = (), readable: Sequence[Path] = ()
) -> bool:
    """Write only below `writable`, of what is below `hidden` read only `readable`, and speak TCP
    with nobody where the kernel has rules for that; False where files cannot be fenced.

    It holds for this process and what it starts, for good; call it before there are threads.
    """
    abi_version = version()
    if not abi_version:
        return False
    writes = WRITES | (MOVE if abi_version >= 2 else 0) | (TRUNCATE if abi_version >= 3 else 0)
    reads = READS if hidden else 0
    scope = FOREIGN_SOCKETS | FOREIGN_SIGNALS if abi_version >= 6 else 0
    network = BIND_TCP | CONNECT_TCP if abi_version >= 4 else 0
    rules = _Rules(writes | reads, network, scope)
    size = 24 if scope else 16 if network else 8
    ruleset = _call(CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    try:
        for path, allowed in _allowed(writable, hidden, readable, writes, reads):
            _allow(ruleset, path, allowed)
        _library().prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return _call(RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allowed(
    writable: Iterable[Path],
    hidden: Sequence[Path],
    readable: Iterable[Path],
    writes: int,
    reads: int,
) -> Iterator[tuple[Path, int]]:
    for path in writable:
        yield path.resolve(), writes | (reads & ~EXECUTE)
    for pattern in DEVICES:
        yield from ((path, WRITE_FILE) for path in Path("/dev").glob(pattern))
    if reads:
        yield Path("/"), READ_DIR
        yield from ((path.resolve(), reads) for path in readable)
        yield from ((path, reads) for path in _all_but([path.resolve() for path in hidden]))


def _all_but(hidden: Sequence[Path], at: Path = Path("/")) -> Iterator[Path]:
    """Everything that is not below a hidden folder, by the fewest names."""
    if at in hidden:
        return
    if not any(path.is_relative_to(at) for path in hidden):
        yield at
        return
    try:
        below = sorted(at.iterdir())
    except OSError:
        return
    for path in below:
        yield from _all_but(hidden, path)


def _allow(ruleset: int, path: Path, allowed: int) -> None:
    """What has gone is passed over, and so is a link: where it leads has a name of its own."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        rule = _Beneath(allowed if path.is_dir() else allowed & OF_FILES, place)
        if rule.allowed:
            _call(ADD_RULE, ruleset, BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    return int(_library().syscall(number, *arguments))


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)

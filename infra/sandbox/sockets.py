"""A filter on system calls that a process puts on itself: no socket but those between processes of
this machine. It needs no rights, so it works inside an ordinary container."""

from __future__ import annotations

import ctypes
import errno
import platform
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NO_NEW_PRIVILEGES = 38
SET_FILTER, ALL_THREADS = 1, 1
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, KILL_PROCESS, FAIL_WITH = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
IO_URING_SETUP, TAKE_DESCRIPTOR = 425, 438
"""A ring opens sockets without the system call; the other takes an open one from a process."""
NO_NUMBER = 1 << 30
"""On x86-64 numbers from here on are a second table of the same calls."""


@dataclass(frozen=True, slots=True)
class Processor:
    """How the kernel names a processor and numbers the calls that the filter is about."""

    name: int
    socket: int
    seccomp: int


PROCESSORS = {
    "x86_64": Processor(0xC000003E, 41, 317),
    "aarch64": Processor(0xC00000B7, 198, 277),
}


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction)))


def forbid_sockets() -> bool:
    """Let this process and what it starts open no socket to any network, for good; False where the
    kernel or the processor has no such filter."""
    processor = PROCESSORS.get(platform.machine())
    if sys.platform != "linux" or processor is None:
        return False
    instructions = [_Instruction(*line) for line in filter_for(processor)]
    array = (_Instruction * len(instructions))(*instructions)
    program = _Program(len(instructions), array)
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    call = (processor.seccomp, SET_FILTER, ALL_THREADS, ctypes.byref(program))
    return int(library.syscall(*call)) == 0


def filter_for(processor: Processor) -> Sequence[tuple[int, int, int, int]]:
    """The filter's lines: code, lines to skip if true and if false, value."""
    return tuple(_lines(processor))


def _lines(processor: Processor) -> Iterator[tuple[int, int, int, int]]:
    yield LOAD, 0, 0, ARCHITECTURE_AT
    yield JUMP_IF_EQUAL, 1, 0, processor.name
    yield RETURN, 0, 0, KILL_PROCESS
    yield LOAD, 0, 0, NUMBER_AT
    yield JUMP_IF_AT_LEAST, 6, 0, NO_NUMBER
    yield JUMP_IF_EQUAL, 5, 0, IO_URING_SETUP
    yield JUMP_IF_EQUAL, 4, 0, TAKE_DESCRIPTOR
    yield JUMP_IF_EQUAL, 0, 2, processor.socket
    yield LOAD, 0, 0, FIRST_ARGUMENT_AT
    yield JUMP_IF_EQUAL, 0, 1, socket.AF_UNIX
    yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, FAIL_WITH | errno.EACCES

"""Telling a pickle from text without ever unpickling it."""

from __future__ import annotations

import pickletools

RUNS_CODE = {
    *("GLOBAL", "INST", "OBJ", "REDUCE", "BUILD", "NEWOBJ", "NEWOBJ_EX", "STACK_GLOBAL"),
    *("EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"),
}
MOST_BYTES = 1 << 20


def is_pickle(data: bytes) -> bool:
    """Whether the beginning of the data is a program for the pickle machine that could call
    something.

    >>> is_pickle(b"cposix\\nsystem\\n(S'true'\\ntR."), is_pickle(b"b. the second point of a list")
    (True, False)
    """
    depth, marks, runs = 0, list[int](), False
    try:
        for code, _, _ in pickletools.genops(data[:MOST_BYTES]):
            if code.name == "STOP":
                return runs
            depth = _after(code, depth, marks)
            if depth < 0:
                return False
            runs = runs or code.name in RUNS_CODE
    except Exception:  # genops reads hostile bytes; whatever it trips over was no pickle
        return False
    return False


def _after(code: pickletools.OpcodeInfo, depth: int, marks: list[int]) -> int:
    """How deep the stack is after an instruction; below zero if the instruction could not run."""
    if code.name == "MARK":
        marks.append(depth)
        return depth + 1
    if pickletools.markobject in code.stack_before:
        if not marks:
            return -1
        depth = marks.pop()
        below = len(code.stack_before[: code.stack_before.index(pickletools.markobject)])
        return depth - below + len(code.stack_after) if depth >= below else -1
    if depth < len(code.stack_before):
        return -1
    return depth - len(code.stack_before) + len(code.stack_after)

"""Become another program, as another user if need be, that the kernel ends when our parent dies.

Started as a script: bound.py PARENT SIGNAL USER GROUP PROGRAM ARGUMENT...; a USER of -1 stays who
we are.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, number: int, user: int, group: int, command: list[str]) -> None:
    """Change the user first: that makes the kernel forget the wish."""
    if user >= 0:
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() == parent:
        os.execv(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])

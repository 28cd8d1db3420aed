"""Limits that a child process puts on itself before it reads untrusted files: no network, bounded
memory, no life after its parent."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import sys
import threading
import time

from infra.sandbox.sockets import forbid_sockets

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


def cut_network() -> bool:
    """Reach no network, the machine's own included; False where the system does not let us. Before
    any thread. Where a process may not leave the network, it forbids itself sockets."""
    return leave_network() or forbid_sockets()


def leave_network() -> bool:
    """Move into an empty network of its own; False where namespaces are refused, as they are in
    most containers."""
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    return any(
        library.unshare(flags) == 0 for flags in (CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWNET)
    )


def end_with_parent() -> None:
    """End within a second of the parent's end. The kernel's own signal for this comes when a mere
    thread ends."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def limit(memory: int | None, file_bytes: int, open_files: int) -> None:
    """Bound what the process may take; no memory limit is None, for drivers of accelerators map
    more than there is."""
    limits = {
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NOFILE: open_files,
        resource.RLIMIT_CORE: 0,
    }
    for resource_kind, bound in limits.items():
        resource.setrlimit(resource_kind, (bound, bound))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def network_can_be_cut() -> bool:
    """Whether `cut_network` works here, tried in a child."""
    child = os.fork()
    if child == 0:
        os._exit(0 if cut_network() and not _reaches_itself() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _reaches_itself() -> bool:
    try:
        socket.create_connection(("127.0.0.1", 9), 0.2).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return True

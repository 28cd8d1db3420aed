"""A process that forbids itself sockets opens none to a network, by any call, and local ones all
the same."""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import sys
from collections.abc import Callable

import pytest

from infra.sandbox import fence
from infra.sandbox.confinement import cut_network, network_can_be_cut
from infra.sandbox.sockets import IO_URING_SETUP, PROCESSORS, forbid_sockets

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in PROCESSORS,
    reason="the filter is for Linux on two processors",
)


def in_child(holds: Callable[[], bool]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if holds() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def is_refused(family: int, kind: int) -> bool:
    try:
        socket.socket(family, kind).close()
    except PermissionError:
        return True
    return False


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        (socket.AF_INET, socket.SOCK_STREAM),
        (socket.AF_INET, socket.SOCK_DGRAM),
        (socket.AF_INET6, socket.SOCK_DGRAM),
        (socket.AF_NETLINK, socket.SOCK_RAW),
        (socket.AF_VSOCK, socket.SOCK_STREAM),
    ],
)
def test_no_socket_to_a_network_can_be_opened(family: int, kind: int) -> None:
    assert in_child(lambda: forbid_sockets() and is_refused(family, kind))


def test_sockets_between_processes_of_the_machine_still_open() -> None:
    assert in_child(lambda: forbid_sockets() and not is_refused(socket.AF_UNIX, socket.SOCK_STREAM))


@pytest.mark.parametrize("number", [IO_URING_SETUP, (1 << 30) + 41])
def test_neither_a_ring_nor_the_second_table_of_calls_leads_around_it(number: int) -> None:
    def refuses() -> bool:
        library = ctypes.CDLL(None, use_errno=True)
        return library.syscall(number, 2, 1, 0) == -1 and ctypes.get_errno() == 13

    assert in_child(lambda: forbid_sockets() and refuses())


def test_refused_namespaces_leave_the_network_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.sandbox.confinement.leave_network", lambda: False)

    assert network_can_be_cut()
    assert in_child(lambda: cut_network() and is_refused(socket.AF_INET, socket.SOCK_DGRAM))


def test_without_namespaces_and_filters_the_network_cannot_be_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("infra.sandbox.confinement.leave_network", lambda: False)
    monkeypatch.setattr("infra.sandbox.confinement.forbid_sockets", lambda: False)

    assert not network_can_be_cut()


@pytest.mark.skipif(fence.version() < 4, reason="This kernel's Landlock has no rules for TCP.")
def test_the_fence_around_files_refuses_tcp_by_itself() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def refused() -> bool:
            assert fence.fence([])
            try:
                socket.create_connection(address, 5)
            except PermissionError:
                return True
            return False

        assert in_child(refused)

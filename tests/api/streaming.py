"""A client that sends a request bit by bit and looks for the answer in between."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

PATIENCE = 20.0
CHUNK = bytes(1 << 20)


@dataclass(frozen=True, slots=True)
class Line:
    """An open connection, on which the head of a request has been sent."""

    connection: socket.socket

    def chunk(self, data: bytes = CHUNK) -> bool:
        """Send one chunk of the body; False if the server hangs up."""
        try:
            self.connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))
        except OSError:
            return False
        return True

    def status(self) -> int:
        """The status of the answer, waited for without sending more."""
        return int(self.connection.recv(4096).split()[1])


@contextmanager
def request(address: str, method: str, path: str, headers: Mapping[str, str]) -> Iterator[Line]:
    """Send the head of a request, and nothing of its body."""
    parts = urlsplit(address)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    where = (parts.hostname or "", parts.port or 80)
    with socket.create_connection(where, timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        yield Line(connection)

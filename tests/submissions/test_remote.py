"""Rows 103 to 106: bundles in S3."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from submissions.format.errors import IntakeError
from submissions.intake import remote
from tests.servers.s3 import S3Server

INBOX = "s3://inbox-bucket/inbox"
FORBIDDEN = (
    *(
        "s3://other-bucket/inbox/Owls/x.zip",
        "s3://inbox-bucket/inbox/Hawks/x.zip",
        "s3://inbox-bucket/x.zip",
    ),
    "s3://169.254.169.254/latest/meta-data",
)
NO_OBJECT = (
    *(
        "s3://inbox-bucket/inbox/Owls/../Hawks/x.zip",
        "s3://inbox-bucket",
        "s3://inbox-bucket/inbox/Owls/",
        "s3://",
    ),
    *(
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "gopher://x/1",
        "http://[::1]/",
        "https://user@host/x",
    ),
    *(
        "http://2130706433/",
        "s3://inbox-bucket/inbox/Owls//x.zip",
        "",
        "ftp://x/y",
        "s3:///inbox/Owls/x.zip",
    ),
)
PLACES = [
    *((uri, "E_S3_FORBIDDEN") for uri in FORBIDDEN),
    *((uri, "E_S3_KEY") for uri in NO_OBJECT),
]


@pytest.mark.parametrize(("uri", "code"), PLACES, ids=[uri or "empty" for uri, _ in PLACES])
def test_rows_103_and_104_other_places_are_refused_before_any_socket(
    tmp_path: Path, uri: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_args: object, **_kwargs: object) -> Any:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", never)

    with pytest.raises(IntakeError) as refused:
        remote.fetch(uri, INBOX, "Owls", tmp_path / "x.zip")

    assert refused.value.problems[0].code == code


@pytest.fixture
def inbox(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://{s3_server.fresh_bucket()}/inbox"


def put(server: S3Server, inbox: str, data: bytes) -> None:
    from infra.store.boto import connect

    client = connect(server.endpoint)
    client.put_object(Bucket=inbox.split("/")[2], Key="inbox/Owls/x.zip", Body=data, Metadata={})


def test_row_105_an_object_that_is_missing_is_named_so(
    s3_server: S3Server, inbox: str, tmp_path: Path
) -> None:
    with pytest.raises(IntakeError) as refused:
        remote.fetch(f"{inbox}/Owls/x.zip", inbox, "Owls", tmp_path / "x.zip", s3_server.endpoint)

    assert "no such object" in refused.value.problems[0].message
    assert refused.value.problems[0].code == "E_S3_UNREADABLE" and not (tmp_path / "x.zip").exists()


def test_row_106_an_object_that_changes_between_head_and_get(
    s3_server: S3Server, inbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(s3_server, inbox, b"the first bytes")
    uri, spot = f"{inbox}/Owls/x.zip", tmp_path / "x.zip"
    remote.fetch(uri, inbox, "Owls", spot, s3_server.endpoint)
    assert spot.read_bytes() == b"the first bytes"
    monkeypatch.setattr(remote, "_client", lambda _endpoint: Changing(s3_server, inbox))

    with pytest.raises(IntakeError) as refused:
        remote.fetch(uri, inbox, "Owls", spot, s3_server.endpoint)

    assert (
        refused.value.problems[0].code == "E_OBJECT_CHANGED"
        and spot.read_bytes() == b"the first bytes"
    )


class Changing:
    """A client behind whose back the object is replaced after the first look."""

    def __init__(self, server: S3Server, inbox: str) -> None:
        from infra.store.boto import connect

        self._client: Any = connect(server.endpoint)
        self._server, self._inbox = server, inbox

    def head_object(self, **place: str) -> Any:
        seen = self._client.head_object(**place)
        put(self._server, self._inbox, b"other bytes")
        return seen

    def get_object(self, **place: str) -> Any:
        return self._client.get_object(**place)

"""Parts sent straight to S3 by links that hold for one key and one length."""

from __future__ import annotations

import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from infra.db import session
from infra.tables import Submission
from submissions import uploads
from submissions.client import Server
from tests.servers.s3 import S3Server
from tests.submissions.bad.case import bundle, pictures

from .conftest import Desk
from .handing_in import create, promise
from .served import served


@pytest.fixture
def bucket(desk: Desk, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The same desk with its store in S3."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    address = f"s3://{s3_server.fresh_bucket()}/armillary"
    settings = desk.settings.model_copy(update={"store": address, "s3_endpoint": s3_server.endpoint})
    desk.client.app.state.settings = settings  # type: ignore[attr-defined]
    return Desk(desk.client, settings, desk.token)


def put(url: str, data: bytes) -> int:
    parts = urlsplit(url)
    line = http.client.HTTPConnection(parts.netloc, timeout=30)
    line.request("PUT", f"{parts.path}?{parts.query}", data)
    status = line.getresponse().status
    line.close()
    return status


def test_a_link_takes_its_part_and_nothing_longer_shorter_or_elsewhere(bucket: Desk, spot: Path) -> None:
    data = bundle(spot, pictures(2)).read_bytes()
    part = create(bucket, promise(spot)).json()["upload"]["parts"][0]

    refused = [put(part["url"], data + b"x"), put(part["url"], data[:-1])]
    refused.append(put(part["url"].replace("/00001?", "/00002?"), data))

    assert all(status >= 400 for status in refused)
    assert put(part["url"], data) == 200


def test_the_client_sends_to_s3_in_parts_and_hands_in(
    bucket: Desk, spot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "PART", 300)
    bundle(spot, pictures(2))

    with served(bucket.settings) as address:
        handed = Server(address, bucket.token).hand_in(spot)

    with session(bucket.settings.database) as db:
        assert db.get(Submission, handed.submission_id) is not None

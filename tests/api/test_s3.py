"""Parts sent straight to S3 by links that hold for one key and one length."""

from __future__ import annotations

import hashlib
import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import delete

from infra.db import session
from infra.store import open_store
from infra.tables import Submission
from infra.tables.intake import Drop
from submissions.intake import uploads
from submissions.tools.client import Server
from tests.servers.s3 import S3Server
from tests.submissions.bad.case import bundle, pictures

from .conftest import ON_BOTH, TEAM, Desk
from .handing_in import create, finish, promise
from .served import served

pytestmark = ON_BOTH


@pytest.fixture
def bucket(desk: Desk, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The same desk with its store in S3."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    address = f"s3://{s3_server.fresh_bucket()}/armillary"
    settings = desk.settings.model_copy(
        update={"store": address, "s3_endpoint": s3_server.endpoint}
    )
    desk.client.app.state.settings = settings  # type: ignore[attr-defined]
    return Desk(desk.client, settings, desk.token)


def put(url: str, data: bytes, headers: dict[str, str]) -> int:
    parts = urlsplit(url)
    line = http.client.HTTPConnection(parts.netloc, timeout=30)
    line.request("PUT", f"{parts.path}?{parts.query}", data, headers)
    status = line.getresponse().status
    line.close()
    return status


def test_a_link_takes_its_part_and_nothing_longer_shorter_elsewhere_or_other(
    bucket: Desk, spot: Path
) -> None:
    data = bundle(spot, pictures(2)).read_bytes()
    part = create(bucket, promise(spot)).json()["upload"]["parts"][0]
    asked = {"sha256": hashlib.sha256(data).hexdigest()}
    link = bucket.client.get(part["link"], params=asked, headers=bucket.headers()).json()
    url, headers = link["url"], link["headers"]

    changed = bytes([data[0] ^ 1]) + data[1:]
    refused = {
        "longer": put(url, data + b"x", headers),
        "shorter": put(url, data[:-1], headers),
        "elsewhere": put(url.replace("/00001?", "/00002?"), data, headers),
        "other type": put(url, data, {**headers, "Content-Type": "text/html"}),
        "other bytes": put(url, changed, headers),
        "no checksum": put(url, changed, {"Content-Type": headers["Content-Type"]}),
    }

    assert {why: status for why, status in refused.items() if status < 400} == {}
    assert put(url, data, headers) == 200


def test_what_comes_by_a_link_when_its_upload_is_closed_does_not_stay(
    bucket: Desk, spot: Path
) -> None:
    data = bundle(spot, pictures(2)).read_bytes()
    upload = create(bucket, promise(spot, own=True)).json()["upload"]
    asked = {"sha256": hashlib.sha256(data).hexdigest()}
    part = upload["parts"][0]["link"]
    link = bucket.client.get(part, params=asked, headers=bucket.headers()).json()
    store = open_store(bucket.settings.objects, bucket.settings.s3_endpoint)
    assert put(link["url"], data, link["headers"]) == 200
    with session(bucket.settings.database) as db:
        uploads.expire(db, store)
    assert finish(bucket, upload["id"]).status_code == 202

    put(link["url"], data, link["headers"])
    with session(bucket.settings.database) as db:
        uploads.expire(db, store)

    assert not list(store.list("uploads/"))


def test_the_client_sends_to_s3_in_parts_and_hands_in(
    bucket: Desk, spot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "PART", 300)
    bundle(spot, pictures(2))

    with served(bucket.settings) as address:
        handed = Server(address, bucket.token).hand_in(spot)

    with session(bucket.settings.database) as db:
        assert db.get(Submission, handed.submission_id) is not None


def test_rows_103_to_105_a_bundle_in_the_inbox_is_handed_in_by_its_address_and_nothing_else_is(
    bucket: Desk, spot: Path
) -> None:
    inbox = f"{bucket.settings.store.removesuffix('/armillary')}/inbox"
    settings = bucket.settings.model_copy(update={"inbox": inbox})
    bucket.client.app.state.settings = settings  # type: ignore[attr-defined]
    open_store(inbox, settings.s3_endpoint).put_file(f"{TEAM}/x.zip", bundle(spot, pictures(2)))

    def ask(uri: str) -> tuple[int, str]:
        answer = bucket.client.post("/v1/inbox", json={"uri": uri}, headers=bucket.headers())
        return answer.status_code, answer.json().get("error", {}).get("code", "")

    assert ask(f"{inbox}/Others/x.zip") == (403, "E_S3_FORBIDDEN")
    assert ask("s3://169.254.169.254/latest") == (403, "E_S3_FORBIDDEN")
    assert ask(f"{inbox}/{TEAM}/../Others/x.zip") == (422, "E_S3_KEY")
    assert ask("http://127.0.0.1/x.zip") == (422, "E_S3_KEY")
    assert ask(f"{inbox}/{TEAM}/y.zip") == (422, "E_S3_UNREADABLE")
    assert ask(f"{inbox}/{TEAM}/x.zip") == (202, "")
    with session(settings.database) as db:
        db.connection().execute(delete(Drop))

"""Links for sending parts straight to S3: one key, one exact length, type and checksum, a quarter
of an hour."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from infra.settings import Settings
from infra.store import open_store
from infra.store.boto import credentials
from infra.store.s3 import S3Store
from infra.tables import Upload
from submissions.intake.uploads import UploadPart, part_key

TYPE = "application/octet-stream"
CHECKSUM = "x-amz-checksum-sha256"


@dataclass(frozen=True, slots=True)
class Link:
    """Where to PUT a part, and the headers that the signature asks for."""

    url: str
    headers: dict[str, str]


def takes_links(settings: Settings) -> bool:
    """Whether parts go straight to the store."""
    return settings.objects.startswith("s3://")


def upload_link(settings: Settings, row: Upload, part: UploadPart, sha256: str) -> Link | None:
    """Where to PUT a part, if the store is S3; its length, type and SHA-256 are part of the
    signature."""
    store = open_store(settings.objects, settings.s3_endpoint)
    if not isinstance(store, S3Store):
        return None
    checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
    exact = {"ContentLength": part.size, "ContentType": TYPE, "ChecksumSHA256": checksum}
    place = {**store._place(part_key(row.id, part.number)), **exact}
    seconds = int(settings.link_minutes * 60)
    url: str = _signer(settings.s3_endpoint).generate_presigned_url(
        "put_object", place, ExpiresIn=seconds
    )
    return Link(url, {"Content-Type": TYPE, CHECKSUM: checksum})


@lru_cache(maxsize=4)
def _signer(endpoint: str | None) -> Any:
    """A client that signs by version 4, which alone covers the headers; it sends nothing."""
    import boto3
    from botocore.config import Config

    style = {"addressing_style": "path" if endpoint else "auto"}
    config = Config(
        signature_version="s3v4", s3=style, request_checksum_calculation="when_required"
    )
    return boto3.session.Session(**credentials()).client("s3", endpoint_url=endpoint, config=config)

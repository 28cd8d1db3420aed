"""Links for sending parts straight to S3: one key, one exact length, a quarter of an hour."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from infra.settings import Settings
from infra.store import open_store
from infra.store_s3 import S3Store
from infra.tables import Upload
from submissions.uploads import Part, part_key


def upload_link(settings: Settings, row: Upload, part: Part) -> str | None:
    """Where to PUT a part, if the store is S3 and the part has not come; the length is part of the signature."""
    store = open_store(settings.objects, settings.s3_endpoint)
    if not isinstance(store, S3Store) or part.received:
        return None
    client = _signer(settings.s3_endpoint)
    place = {**store._place(part_key(row.id, part.number)), "ContentLength": part.size}
    link: str = client.generate_presigned_url("put_object", place, ExpiresIn=int(settings.link_minutes * 60))
    return link


@lru_cache(maxsize=4)
def _signer(endpoint: str | None) -> Any:
    """A client that signs by version 4, which alone covers the length; it sends nothing."""
    import boto3
    from botocore.config import Config

    style = {"addressing_style": "path" if endpoint else "auto"}
    config = Config(signature_version="s3v4", s3=style, request_checksum_calculation="when_required")
    return boto3.session.Session().client("s3", endpoint_url=endpoint, config=config)

"""Links for sending parts straight to S3: one key, one exact length, a quarter of an hour."""

from __future__ import annotations

from typing import Any

from infra.settings import Settings
from infra.store import open_store
from infra.store_boto import connect
from infra.store_s3 import S3Store
from infra.tables import Upload
from submissions.uploads import Part, part_key


def upload_link(settings: Settings, row: Upload, part: Part) -> str | None:
    """Where to PUT a part, if the store is S3 and the part has not come; the length is part of the signature."""
    store = open_store(settings.objects, settings.s3_endpoint)
    if not isinstance(store, S3Store) or part.received:
        return None
    client: Any = connect(settings.s3_endpoint)
    place = {**store._place(part_key(row.id, part.number)), "ContentLength": part.size}
    link: str = client.generate_presigned_url("put_object", place, ExpiresIn=int(settings.link_minutes * 60))
    return link

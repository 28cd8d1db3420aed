"""The object store: bytes by key, in a folder or in S3. `open_store` chooses by address."""

from __future__ import annotations

from pathlib import Path

from infra.store.objects import (
    CHUNK,
    PARTIAL,
    BadKey,
    Corrupt,
    Missing,
    Readable,
    Store,
    Stored,
    StoreError,
    Unreachable,
    blob_key,
    bundle_key,
    changed,
    check_key,
    check_prefix,
    copy,
    curation_picture_key,
    fetch_blob,
    landing,
    lend_blob,
    make_folder,
    partial_of,
    put_blob,
    put_bytes,
    report_key,
    sync_folder,
)

__all__ = [
    "CHUNK",
    "PARTIAL",
    "BadKey",
    "Corrupt",
    "Missing",
    "Readable",
    "Store",
    "StoreError",
    "Stored",
    "Unreachable",
    "blob_key",
    "bundle_key",
    "changed",
    "check_key",
    "check_prefix",
    "copy",
    "curation_picture_key",
    "fetch_blob",
    "landing",
    "lend_blob",
    "make_folder",
    "open_store",
    "partial_of",
    "put_blob",
    "put_bytes",
    "report_key",
    "sync_folder",
]


def open_store(url: str, endpoint: str | None = None) -> Store:
    """Choose the store by its address, s3://bucket/prefix or a folder; the endpoint matters only to
    S3."""
    from infra.store.folder import FolderStore
    from infra.store.s3 import S3Store

    if url.startswith("s3://"):
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        return S3Store(bucket, prefix.strip("/"), endpoint)
    if not url or "://" in url:
        raise StoreError(
            f"{url!r} is no address of a store. Set it to s3://bucket/prefix or to the path of a "
            "folder."
        )
    return FolderStore(Path(url))

"""A store in a bucket of S3, Amazon's or any other server's that speaks it."""

from __future__ import annotations

import hashlib
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import BinaryIO, TypeVar

from infra.store.boto import ArrivedPart, Client, ObjectLocation, Query, connect, explain
from infra.store.objects import (
    Corrupt,
    Missing,
    Stored,
    StoreError,
    Unreachable,
    changed,
    check_key,
    check_prefix,
    copy,
    landing,
)

PART = 8 << 20
"""Larger files go up in parts of at least so many bytes; S3 takes 10,000 parts of 5 MiB or more."""

PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0)
"""The longest waits, in seconds, before asking again; every request can be repeated without harm,
and here is."""

READ_AGAIN = 3
"""So often an object is read again whose bytes are not those that were stored."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class S3Store:
    """The credentials and the region come from where boto3 looks for them, at the first request."""

    bucket: str
    prefix: str = ""
    endpoint: str | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", self.bucket):
            raise StoreError(
                f"{self.bucket!r} is no bucket's name. Write the store's address as "
                "s3://bucket/prefix."
            )
        if self.endpoint is not None and not re.fullmatch(r"https?://[^@/?#]+/?", self.endpoint):
            raise StoreError(
                "The S3 endpoint is no plain address. Write it as https://host:port, without a "
                "password."
            )
        check_prefix(self.prefix)

    def __reduce__(self) -> tuple[type[S3Store], tuple[str, str, str | None]]:
        # A store travels to worker processes; its connections cannot.
        return S3Store, (self.bucket, self.prefix, self.endpoint)

    def put(self, key: str, data: bytes, sha256: str | None = None) -> str:
        """Store the bytes and return their SHA-256; give it where it is known."""
        place, sha256 = self._place(key), sha256 or hashlib.sha256(data).hexdigest()
        self._ask(
            "store", key, lambda s3: s3.put_object(**place, Body=data, Metadata={"sha256": sha256})
        )
        return sha256

    def put_file(self, key: str, path: Path, sha256: str | None = None) -> str:
        """Store the file's bytes and return their SHA-256; where it is given, store nothing that
        differs from it."""
        with path.open("rb") as source:
            size = os.fstat(source.fileno()).st_size
            if size > PART:
                return self._put_parts(key, source, size, sha256 or _sha256(source))
            data = source.read()
        if sha256 not in (None, hashlib.sha256(data).hexdigest()):
            raise changed(path)
        return self.put(key, data)

    def get(self, key: str) -> bytes:
        """Return the object's bytes, or raise Missing."""
        sink = BytesIO()
        self._download(key, sink)
        return sink.getvalue()

    def fetch(self, key: str, path: Path) -> str:
        """Write the object to the path, whole or not at all, and return its SHA-256."""
        check_key(key)
        with landing(path) as sink:
            return self._download(key, sink)

    def lend(self, key: str, path: Path) -> str:
        """Have the object at the path and return its SHA-256."""
        return self.fetch(key, path)

    def exists(self, key: str) -> bool:
        """Say whether there is such an object."""
        place = self._place(key)
        try:
            self._ask("look for", key, lambda s3: s3.head_object(**place))
        except Missing:
            return False
        return True

    def list(self, prefix: str) -> Iterator[Stored]:
        """Give the objects whose keys start with the prefix, sorted by key."""
        return self._list(check_prefix(prefix))

    def delete(self, key: str) -> None:
        """Remove the object; that there is none is fine."""
        place = self._place(key)
        with suppress(Missing):
            self._ask("delete", key, lambda s3: s3.delete_object(**place))

    def url(self) -> str:
        """Return the address that `open_store` takes."""
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    @cached_property
    def _client(self) -> Client:
        return connect(self.endpoint)

    @property
    def _base(self) -> str:
        return f"{self.prefix}/" if self.prefix else ""

    def _place(self, key: str) -> ObjectLocation:
        return ObjectLocation(Bucket=self.bucket, Key=check_key(self._base + check_key(key)))

    def _list(self, prefix: str) -> Iterator[Stored]:
        query = Query(Bucket=self.bucket, Prefix=self._base + prefix)
        has_next = True
        while has_next:
            page = self._ask("list", prefix, lambda s3: s3.list_objects_v2(**query))
            for listed in page.get("Contents", ()):
                # Consoles make empty objects that stand for folders.
                if not listed["Key"].endswith("/"):
                    version = (
                        f"{listed['ETag'].strip(chr(34))} "
                        f"{listed['LastModified']:%Y-%m-%dT%H:%M:%S.%f}"
                    )
                    yield Stored(listed["Key"].removeprefix(self._base), listed["Size"], version)
            if has_next := "NextContinuationToken" in page:
                query["ContinuationToken"] = page["NextContinuationToken"]

    def _put_parts(self, key: str, source: BufferedReader, size: int, sha256: str) -> str:
        place, about = self._place(key), {"sha256": sha256}
        upload = self._ask(
            "store", key, lambda s3: s3.create_multipart_upload(**place, Metadata=about)
        )["UploadId"]
        try:
            sent, parts = self._send_parts(key, upload, source, max(PART, -(-size // 10_000)))
            if sent != sha256:
                raise changed(Path(source.name))
            whole = {"Parts": parts}
            self._ask(
                "store",
                key,
                lambda s3: s3.complete_multipart_upload(
                    **place, UploadId=upload, MultipartUpload=whole
                ),
            )
        except BaseException:
            # Parts nobody completes are in no listing and are paid for.
            with suppress(StoreError):
                self._ask(
                    "drop", key, lambda s3: s3.abort_multipart_upload(**place, UploadId=upload)
                )
            raise
        return sha256

    def _send_parts(
        self, key: str, upload: str, source: BinaryIO, step: int
    ) -> tuple[str, Sequence[ArrivedPart]]:
        place, digest = self._place(key), hashlib.sha256()
        parts: list[ArrivedPart] = []
        while data := source.read(step):
            digest.update(data)
            part = partial(_send_part, place=place, upload=upload, number=len(parts) + 1, data=data)
            parts.append(self._ask("store", key, part))
        return digest.hexdigest(), parts

    def _download(self, key: str, sink: BinaryIO) -> str:
        place = self._place(key)
        # Bytes spoilt on the way come right when read again; spoilt in the store, they never do.
        for _ in range(READ_AGAIN):
            with suppress(Corrupt):
                return self._ask("read", key, lambda s3: _read(s3, place, key, sink))
        return self._ask("read", key, lambda s3: _read(s3, place, key, sink))

    def _ask(self, doing: str, key: str, call: Callable[[Client], Result]) -> Result:
        for pause in PAUSES:
            with suppress(Unreachable):
                return self._ask_once(doing, key, call)
            time.sleep(pause * random.SystemRandom().uniform(0.5, 1))
        return self._ask_once(doing, key, call)

    def _ask_once(self, doing: str, key: str, call: Callable[[Client], Result]) -> Result:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return call(self._client)
        except (BotoCoreError, ClientError) as error:
            raise explain(error, f"Could not {doing} {key!r} in {self.url()}", key) from error


def _sha256(file: BufferedReader) -> str:
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return digest


def _send_part(
    s3: Client, place: ObjectLocation, upload: str, number: int, data: bytes
) -> ArrivedPart:
    sent = s3.upload_part(**place, UploadId=upload, PartNumber=number, Body=data)
    return ArrivedPart(ETag=sent["ETag"], PartNumber=number)


def _read(s3: Client, place: ObjectLocation, key: str, sink: BinaryIO) -> str:
    """Read the whole body here, for boto3 repeats requests but not bodies; a short one it notices
    itself."""
    sink.seek(0)
    sink.truncate()
    answer = s3.get_object(**place)
    with closing(answer["Body"]) as body:
        sha256 = copy(body, sink)
    if sink.tell() != answer["ContentLength"]:
        raise Unreachable(
            f"{sink.tell():,} of {answer['ContentLength']:,} bytes of {key!r} came. Try again "
            "later."
        )
    expected = answer["Metadata"].get("sha256", sha256)
    if sha256 != expected:
        raise Corrupt(key, expected, sha256)
    return sha256

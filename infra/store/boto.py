"""boto3 clients and errors for the S3 store, with types for the part of boto3 that it uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NotRequired, Protocol, TypedDict

from infra.store.objects import Missing, StoreError, Unreachable


def connect(endpoint: str | None) -> Client:
    """Make a client that waits for nothing for ever and suits servers other than Amazon's."""
    import boto3
    from botocore.config import Config

    config = Config(
        # boto3 rations its retries, so the store asks again by itself when boto3 has given up.
        retries={"mode": "adaptive", "total_max_attempts": 3},
        connect_timeout=5,
        read_timeout=60,
        max_pool_connections=32,
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        # A signed payload is one whose SHA-256 the server checks before it keeps it.
        s3={"addressing_style": "path" if endpoint else "auto", "payload_signing_enabled": True},
    )
    session = boto3.session.Session(**credentials())
    client: Client = session.client("s3", endpoint_url=endpoint, config=config)
    return client


def make_bucket(name: str, endpoint: str | None) -> bool:
    """Make a bucket in the region that is set; False when it is there already and ours."""
    from botocore import exceptions

    client: Any = connect(endpoint)
    try:
        client.head_bucket(Bucket=name)
    except exceptions.ClientError as error:
        if int(error.response["ResponseMetadata"]["HTTPStatusCode"]) != 404:
            raise explain(error, f"The bucket {name} cannot be used", name) from None
    except exceptions.BotoCoreError as error:
        raise explain(error, f"The bucket {name} cannot be used", name) from None
    else:
        return False
    region = client.meta.region_name
    elsewhere = not endpoint and region not in (None, "us-east-1")
    where = {"CreateBucketConfiguration": {"LocationConstraint": region}} if elsewhere else {}
    client.create_bucket(Bucket=name, **where)
    return True


def credentials() -> dict[str, str]:
    """Those of our settings; nothing, and boto3 looks where it always does."""
    from infra.settings import Settings

    settings = Settings()
    key, secret = settings.s3_key.get_secret_value(), settings.s3_secret.get_secret_value()
    return {"aws_access_key_id": key, "aws_secret_access_key": secret} if key else {}


def explain(error: Exception, failure: str, key: str) -> StoreError:
    """Turn boto3's error into ours: which one it is, whose fault, and what to do."""
    from botocore import exceptions

    cut_off = (
        exceptions.ConnectionError,
        exceptions.HTTPClientError,
        exceptions.IncompleteReadError,
    )
    code, status = type(error).__name__, 0
    if isinstance(error, exceptions.ClientError):
        code = str(error.response.get("Error", {}).get("Code", "no code"))
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code in {"404", "NoSuchKey", "NotFound"}:
        return Missing(key)
    if code in REFUSALS:
        return StoreError(f"{failure} ({code}). {REFUSED}")
    if code == "NoSuchBucket":
        return StoreError(
            f"{failure} ({code}). There is no such bucket: the operator must make it or correct "
            "the address."
        )
    if status >= 500 or code in PASSING or isinstance(error, cut_off):
        return Unreachable(f"{failure} ({code}). {FAILING}")
    return StoreError(
        f"{failure} ({code}). The store does not understand us, which is our fault: tell the "
        "maintainers."
    )


REFUSALS = {
    *(
        "401",
        "403",
        "AccessDenied",
        "ExpiredToken",
        "InvalidAccessKeyId",
        "InvalidToken",
        "SignatureDoesNotMatch",
    ),
    *(
        "NoCredentialsError",
        "PartialCredentialsError",
        "CredentialRetrievalError",
        "ProfileNotFound",
    ),
}
REFUSED = (
    "The store refuses the credentials of this process; the operator must correct "
    "AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY or the rights on the bucket."
)
PASSING = {"408", "429", "BadDigest", "RequestTimeout", "SlowDown", "XAmzContentSHA256Mismatch"}
FAILING = "The fault is the object store's or the network's, not the submitter's: try again later."


class ObjectLocation(TypedDict):
    """Where an object lies, in boto3's words."""

    Bucket: str
    Key: str


class ArrivedPart(TypedDict):
    """A part that has arrived."""

    ETag: str
    PartNumber: int


class Body(Protocol):
    """The bytes of an answer as they come in."""

    def read(self, size: int, /) -> bytes: ...
    def close(self) -> None: ...


class GetObjectAnswer(TypedDict):
    """What comes back for an object that is asked for."""

    Body: Body
    ContentLength: int
    Metadata: Mapping[str, str]


class ListedObject(TypedDict):
    """One object of a page."""

    Key: str
    Size: int
    ETag: str
    LastModified: datetime


class Query(TypedDict):
    """What to list, from the first page or from a later one."""

    Bucket: str
    Prefix: str
    ContinuationToken: NotRequired[str]


class ListingPage(TypedDict, total=False):
    """Up to 1,000 objects of a listing, and the token for the next page if there is one."""

    Contents: Sequence[ListedObject]
    NextContinuationToken: str


class Client(Protocol):
    """The part of boto3, which has no types, that is used here."""

    def put_object(
        self, *, Bucket: str, Key: str, Body: bytes, Metadata: Mapping[str, str]
    ) -> object: ...
    def get_object(self, *, Bucket: str, Key: str) -> GetObjectAnswer: ...
    def head_object(self, *, Bucket: str, Key: str) -> object: ...
    def delete_object(self, *, Bucket: str, Key: str) -> object: ...
    def list_objects_v2(
        self, *, Bucket: str, Prefix: str, ContinuationToken: str = ...
    ) -> ListingPage: ...
    def create_multipart_upload(
        self, *, Bucket: str, Key: str, Metadata: Mapping[str, str]
    ) -> Mapping[str, str]: ...
    def upload_part(
        self, *, Bucket: str, Key: str, UploadId: str, PartNumber: int, Body: bytes
    ) -> Mapping[str, str]: ...
    def complete_multipart_upload(
        self,
        *,
        Bucket: str,
        Key: str,
        UploadId: str,
        MultipartUpload: Mapping[str, Sequence[ArrivedPart]],
    ) -> object: ...
    def abort_multipart_upload(self, *, Bucket: str, Key: str, UploadId: str) -> object: ...

"""Fetches a bundle from S3: only from the team's own folder of the inbox, one object, unchanged
since it was looked at."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from infra.store import BadKey, Unreachable, check_key, landing
from infra.store.boto import connect, explain
from submissions.format.errors import IntakeError, refusal, shown

CHUNK = 1 << 20
WHY = {
    "404": "there is no such object",
    "NoSuchKey": "there is no such object",
    "NoSuchBucket": "there is no such bucket",
    "405": "it was deleted",
    "MethodNotAllowed": "it was deleted",
    "InvalidObjectState": "it is archived (Glacier)",
    "403": "we may not read it",
    "AccessDenied": "we may not read it",
    "KMS.DisabledException": "its key is disabled",
}
CHANGED = ("412", "PreconditionFailed")


def fetch(
    uri: str, inbox: str, team: str, to: Path, endpoint: str | None = None, max_bytes: int = 1 << 40
) -> None:
    """Bring a team's object to a file of ours; IntakeError says why not, before any socket is
    opened if it can.

    Unreachable: the store fails; that is no fault of the team's.
    """
    bucket, key = place(uri, inbox, team)
    client: Any = _client(endpoint)
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        head = client.head_object(Bucket=bucket, Key=key)
        if head["ContentLength"] > max_bytes:
            raise refusal(
                "E_TOO_LARGE",
                "size",
                f"{head['ContentLength']} bytes.",
                f"At most {max_bytes}.",
                max_bytes,
            )
        body = client.get_object(Bucket=bucket, Key=key, IfMatch=head["ETag"])["Body"]
        with landing(to) as file:
            while chunk := body.read(CHUNK):
                file.write(chunk)
    except ClientError as error:
        explained = explain(error, f"Could not read {shown(uri)}", key)
        if isinstance(explained, Unreachable):
            raise explained from None
        raise _unreadable(uri, str(error.response.get("Error", {}).get("Code", ""))) from None
    except BotoCoreError as error:
        raise explain(error, f"Could not read {shown(uri)}", key) from None


@lru_cache(maxsize=4)
def _client(endpoint: str | None) -> Any:
    return connect(endpoint)


def place(uri: str, inbox: str, team: str) -> tuple[str, str]:
    """The bucket and key, if they are the team's own."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    try:
        check_key(key)
    except BadKey:
        key = ""
    if not uri.startswith("s3://") or not bucket or not key:
        raise refusal(
            "E_S3_KEY",
            shown(uri),
            "This names no object.",
            "Write s3://bucket/inbox/TEAM/bundle.zip.",
        )
    if not inbox or not uri.startswith(f"{inbox.rstrip('/')}/{team}/"):
        hint = (
            f"Put it under {inbox.rstrip('/')}/{team}/."
            if inbox
            else "This server takes nothing from S3."
        )
        raise refusal("E_S3_FORBIDDEN", shown(uri), "This is not your folder of the inbox.", hint)
    return bucket, key


def _unreadable(uri: str, code: str) -> IntakeError:
    if code in CHANGED:
        hint = "Hand it in again when nothing writes to it."
        return refusal(
            "E_OBJECT_CHANGED", shown(uri), "The object changed while it was read.", hint
        )
    why = WHY.get(code, f"the store says {shown(code)}")
    return refusal(
        "E_S3_UNREADABLE",
        shown(uri),
        f"It cannot be read: {why}.",
        "Check the address and the rights.",
    )

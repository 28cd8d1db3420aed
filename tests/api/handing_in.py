"""The three steps of handing in, as a client takes them."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

from tests.bundles import declaration
from tests.submissions.bad.case import ids

from .conftest import Desk

OCTETS = {"Content-Type": "application/octet-stream"}


def promise(bundle: Path, **changes: Any) -> dict[str, Any]:
    """What to say before sending a bundle: its own manifest where it has a sound one, else any
    sound one."""
    data = bundle.read_bytes()
    files = [{"path": "outputs/0.png", "sha256": "0" * 64, "sample": ids("image")[0]}]
    manifest = {**declaration(partial=True), "files": files}
    try:
        found = json.loads(zipfile.ZipFile(bundle).read("manifest.json"))
        manifest = found if changes.pop("own", False) else manifest
    except Exception:
        changes.pop("own", None)
    return {
        "manifest": manifest,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        **changes,
    }


def create(desk: Desk, said: dict[str, Any], key: str = "a key of a test") -> Any:
    return desk.client.post(
        "/v1/submissions",
        json=said,
        headers=desk.headers(**{"Idempotency-Key": key.replace(" ", "-")}),
    )


def send(desk: Desk, upload: dict[str, Any], data: bytes) -> list[Any]:
    """Every part that has not come yet."""
    return [
        desk.client.put(part["path"], content=data[part["offset"] : part["offset"] + part["size"]],
                        headers=desk.headers(**OCTETS))
        for part in upload["parts"] if not part["received"]
    ]  # fmt: skip


def finish(desk: Desk, upload_id: str) -> Any:
    return desk.client.post(f"/v1/submissions/uploads/{upload_id}/finish", headers=desk.headers())


def hand_in(desk: Desk, bundle: Path, key: str = "a key of a test", **changes: Any) -> Any:
    """All three steps; the first refusal is the answer."""
    created = create(desk, promise(bundle, **changes), key)
    if created.status_code >= 400:
        return created
    upload = created.json()["upload"]
    for answer in send(desk, upload, bundle.read_bytes()):
        assert answer.status_code == 204, answer.text
    return finish(desk, upload["id"])

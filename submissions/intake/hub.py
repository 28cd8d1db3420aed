"""A model on a hub, fetched once at intake and offline from then on: one commit, and only files
that cannot run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from infra.store import Unreachable
from submissions.bundle.pack import pack_model
from submissions.format.errors import refusal, shown
from submissions.format.manifest import Hub, Manifest
from submissions.model_files.model_folder import ALLOWED

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "submissions.intake.hub_main")
SECONDS = 6 * 3600
PASSED_ON = (
    "PATH",
    "HF_ENDPOINT",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "LANG",
)
AGAIN = "Check the id and the revision, then hand it in again."
REASONS = {
    "E_HUB_MISSING": "There is no such model or commit, or it is not open to us.",
    "E_TOO_LARGE": "The model is larger than we take.",
    "E_HUB_EMPTY": "There are no weights in safetensors.",
}


def read_hub(text: str) -> Hub:
    """`org/name@REVISION` as somebody wrote it."""
    name, _, revision = text.partition("@")
    return _hub({"id": name, "revision": revision}, shown(text))


def hub_of(declaration: Mapping[str, Any]) -> Hub | None:
    """Where a declaration says that its model lies, if it does."""
    model = declaration.get("model")
    reference = model.get("hub") if isinstance(model, dict) else None
    return _hub(reference, "manifest.model.hub") if reference else None


def fetched_bundle(manifest: Manifest, folder: Path, max_bytes: int) -> Path:
    """The bundle of the model on a hub that a manifest names, fetched and packed in `folder`."""
    assert manifest.on_hub
    fetch(manifest.on_hub, folder / "fetched", max_bytes)
    declaration = manifest.model_dump(mode="json", exclude={"files"})
    return pack_model(folder / "fetched.zip", declaration, folder / "fetched")


def _hub(reference: Any, where: str) -> Hub:
    try:
        return Hub.model_validate(reference)
    except ValidationError:
        hint = "Write org/name@ and the 40 hexadecimal digits of a commit; a branch moves."
        raise refusal("E_REVISION", where, "This names no commit of a model.", hint) from None


def fetch(hub: Hub, to: Path, max_bytes: int, seconds: float = SECONDS) -> None:
    """Bring the model's weights, configs and tokenizer to a folder; IntakeError says why not.

    It asks as anybody may, never with a token of ours: the submitter chooses what is fetched. A
    child does it, for this process is offline for good, and it has a time limit. Unreachable: the
    hub fails.
    """
    to.mkdir(parents=True, exist_ok=True)
    job = {
        "id": hub.id,
        "revision": hub.revision,
        "folder": str(to.resolve()),
        "most": max_bytes,
        "allowed": ALLOWED,
    }
    inherited = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    clean = {
        **inherited,
        "PYTHONPATH": str(ROOT),
        "HF_HOME": str(to.resolve() / ".hub"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    }
    try:
        completed = subprocess.run(
            COMMAND,
            input=json.dumps(job),
            env=clean,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unreachable(
            f"Fetching {hub.id} takes over {seconds:g} seconds. Try again later."
        ) from None
    code = completed.stdout.strip()
    if completed.returncode == 0 and code == "done":
        return
    if code in REASONS:
        raise refusal(
            code,
            shown(f"{hub.id}@{hub.revision}"),
            REASONS[code],
            AGAIN,
            max_bytes if code == "E_TOO_LARGE" else None,
        )
    raise Unreachable(
        f"The hub does not give {hub.id}. The fault is the hub's or the network's: try again later."
    )

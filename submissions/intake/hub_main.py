"""The child that fetches from a hub: `python -m submissions.intake.hub_main`. It reads one job,
downloads, and prints `done` or a code."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import Any

FIRST_SECONDS = 30.0


def main() -> str:
    """Fetch the model of the job on stdin; the answer is `done` or a code."""
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    job: dict[str, Any] = json.load(sys.stdin)
    place = {"repo_id": job["id"], "revision": job["revision"]}
    folder = Path(job["folder"])
    hub = HfApi(token=False)
    try:
        # Asked once and first: what follows is tried again for half a minute when the hub is down.
        if hub.repo_info(**place, timeout=FIRST_SECONDS).sha != job["revision"]:
            return "E_HUB_MISSING"  # a branch that is called like a commit
        files = [
            file for file in hub.list_repo_tree(**place, recursive=True) if hasattr(file, "size")
        ]
        sizes = {file.path: file.size for file in files if _is_needed(file.path, job["allowed"])}
        if sum(sizes.values()) > job["most"]:
            return "E_TOO_LARGE"
        if not any(name.endswith(".safetensors") for name in sizes):
            return "E_HUB_EMPTY"
        for name in sizes:
            hf_hub_download(**place, filename=name, local_dir=folder, token=False)
    except (RepositoryNotFoundError, RevisionNotFoundError, GatedRepoError):
        return "E_HUB_MISSING"
    for cache in (folder / ".cache", folder / ".hub"):
        shutil.rmtree(cache, ignore_errors=True)
    return "done"


def _is_needed(path: str, allowed: list[str]) -> bool:
    """Weights, configs and tokenizers; never anything hidden, never our own declaration."""
    parts = PurePosixPath(path)
    hidden = any(part.startswith(".") for part in parts.parts)
    return parts.suffix in allowed and not hidden and parts.name != "armillary.json"


if __name__ == "__main__":
    print(main())  # noqa: T201

"""Reads a declaration, which is a manifest without its files; its fields are checked with the
bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from submissions.format import manifest as manifests
from submissions.format import strict_json
from submissions.format.errors import refusal, shown
from submissions.format.strict_json import BadJson

DECLARATION = "armillary.json"
"""What it is called in a model's folder."""


def read_declaration(path: Path, name: str | None = None) -> dict[str, Any]:
    """Read a declaration; `name` is what to call it in a message, its path if nothing is given."""
    where = shown(name or str(path))
    try:
        if path.stat().st_size > manifests.MOST_BYTES:
            raise manifests.too_large(path.stat().st_size)
        declaration = strict_json.read(path.read_bytes())
    except FileNotFoundError:
        hint = (
            "Write one (see submissions/README.md) and name it with --manifest, or put it there "
            f"as {DECLARATION}."
        )
        raise refusal("E_MANIFEST_MISSING", where, "There is no declaration.", hint) from None
    except BadJson as bad:
        raise refusal(
            f"E_MANIFEST_{bad.kind}", where, f"This is not plain JSON: {bad.message}", bad.hint
        ) from None
    if not isinstance(declaration, dict):
        raise refusal("E_SCHEMA", where, "The top level is not an object.", "Begin with {.")
    return {name: value for name, value in declaration.items() if name != "files"}

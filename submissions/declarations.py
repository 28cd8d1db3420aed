"""A manifest without its files, as somebody wrote it by hand; what it says is checked with the bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from submissions.errors import refusal, shown

DECLARATION = "armillary.json"
"""What it is called in a model's folder."""


def read_declaration(path: Path, name: str | None = None) -> dict[str, Any]:
    """Read a declaration; `name` is what to call it in a message, its path if nothing is given."""
    where = shown(name or str(path))
    try:
        declaration = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        hint = f"Write one (see submissions/README.md) and name it with --manifest, or put it there as {DECLARATION}."
        raise refusal("E_MANIFEST_MISSING", where, "There is no declaration.", hint) from None
    except (ValueError, RecursionError):
        raise refusal("E_MANIFEST_JSON", where, "This is not JSON.", "Check it with python -m json.tool.") from None
    if not isinstance(declaration, dict):
        raise refusal("E_SCHEMA", where, "The top level is not an object.", "Begin with {.")
    return {name: value for name, value in declaration.items() if name != "files"}

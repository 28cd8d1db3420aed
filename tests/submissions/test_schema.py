"""The published schema is the one the code reads by, and the example in the README is a
manifest."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema

from submissions.format.manifest import json_schema
from tests.bundles import declaration
from tests.command import ROOT

FILES = ROOT / "submissions"


def test_the_schema_file_is_what_the_code_gives() -> None:
    stored = json.loads((FILES / "format" / "manifest.schema.json").read_text("utf-8"))

    assert stored == json_schema(), (
        "run: armillary schema > submissions/format/manifest.schema.json"
    )


def test_the_readme_s_example_and_a_sound_manifest_fit_the_schema() -> None:
    text = (FILES / "README.md").read_text("utf-8")
    example = json.loads(
        re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0].replace("<64 hex digits>", "0" * 64)
    )
    made = {
        **declaration(),
        "files": [{"path": "outputs/a.png", "sha256": "0" * 64, "sample": "a"}],
    }

    for manifest in (example, made):
        jsonschema.validate(manifest, json_schema())


def test_no_packaged_file_names_this_machine() -> None:
    here = str(Path.home())
    found = [
        path
        for path in ROOT.glob("*/**/*.md")
        if ".venv" not in path.parts and here + "/" in path.read_text("utf-8")
    ]

    assert found == []

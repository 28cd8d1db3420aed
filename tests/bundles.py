"""Bundles for the tests: sound ones, and ones with a single fault."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from evaluators.contracts import Sample
from evaluators.suites import suite_named

Edit = Callable[[dict[str, Any], dict[str, bytes]], None]


def demo_samples(modality: str = "image") -> list[Sample]:
    """The samples of TailOR's demo subset in one modality."""
    suite = suite_named("tailor")
    return [
        s for s in suite.samples() if suite.subsets["demo"](s) and s.facets.modality == modality
    ]


def picture(number: int, size: tuple[int, int] = (48, 32)) -> bytes:
    """A small picture, different for each number."""
    image = Image.new("RGB", size, (number * 37 % 256, number * 91 % 256, number * 53 % 256))
    image.putpixel((number % size[0], 3), (255, 255, 255))
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def declaration(**changes: Any) -> dict[str, Any]:
    """A sound manifest without its files."""
    suite = suite_named("tailor")
    return {
        "schema_version": 1,
        "suite": suite.name,
        "suite_version": suite.version,
        "subset": "demo",
        "kind": "outputs",
        "modalities": ["image"],
        "team": "Test team",
        "contact": "test@localhost",
        "model": {
            "name": "Painter",
            "revision": "1",
            "organisation": "Test lab",
            "licence": "CC0-1.0",
            "open_weights": True,
        },
        "disclosure": {"trained_on_suite_data": "no", "statement": "Drawn by the tests."},
        "sampling": {"seed": 1},
        **changes,
    }


def drawn_outputs(to: Path, edit: Edit | None = None, shift: int = 0, **changes: Any) -> Path:
    """A bundle with one picture a sample; `edit` may spoil the manifest or the members before it is
    written."""
    members = {
        f"outputs/{s.id}.png": picture(number + shift) for number, s in enumerate(demo_samples())
    }
    files = [
        {
            "path": path,
            "sha256": hashlib.sha256(data).hexdigest(),
            "sample": path[len("outputs/") : -len(".png")],
        }
        for path, data in members.items()
    ]
    manifest = {**declaration(**changes), "files": files}
    if edit:
        edit(manifest, members)
    return write(to, json.dumps(manifest).encode(), members)


def of_several_teams(folder: Path, count: int) -> list[Path]:
    """Bundles of teams and models of their own, no two of which have a picture in common."""

    def one(number: int) -> Path:
        model = {**declaration()["model"], "name": f"Painter {number}"}
        shift = number * len(demo_samples())
        return drawn_outputs(
            folder / f"{number:03}.zip", shift=shift, team=f"Team {number}", model=model
        )

    return [one(number) for number in range(count)]


def write(
    to: Path, manifest: bytes, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED
) -> Path:
    """A zip of exactly these bytes."""
    with zipfile.ZipFile(to, "w", compression) as bundle:
        bundle.writestr("manifest.json", manifest)
        for name, data in members.items():
            bundle.writestr(name, data)
    return to

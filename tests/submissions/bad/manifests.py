"""Rows 53 to 74 and 98 to 108: what can be wrong with the declaration."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

from tests.bundles import picture

from .case import (
    Case,
    Manifest,
    Members,
    bundle,
    edited,
    ids,
    pictures,
    put_at,
    raw_manifest,
    sha256,
    take_out,
)

WITHOUT = (("disclosure", 101), ("contact", 101), ("model.licence", 101), ("sampling.seed", 98))


def no_manifest(to: Path) -> Path:
    from tests.bundles import write

    write(to, b"", {"outputs/0.png": picture(0)})
    data = to.read_bytes().replace(b"manifest.json", b"manifesto.jsn")
    to.write_bytes(data)
    return to


def duplicate_item(manifest: Manifest, _members: Members) -> None:
    manifest["files"][1]["sample"] = manifest["files"][0]["sample"]


def missing_item(manifest: Manifest, _members: Members) -> None:
    manifest["partial"] = False


def missing_file(_manifest: Manifest, members: Members) -> None:
    members.pop("outputs/0.png")


def same_bytes(manifest: Manifest, members: Members) -> None:
    for file in manifest["files"]:
        members[file["path"]] = picture(0)
        file["sha256"] = sha256(picture(0))


def seeds() -> list[Any]:
    return [-1, 1.5, 2**63, "7", True, None]


def seeded(number: str, text: str) -> str:
    return text.replace('"seed": 1', f'"seed": {number}')


def whole(top: Any, _text: str) -> str:
    return json.dumps(top)


TOPS: list[Any] = [[], "text", None, 3]
NAMES = {
    "empty": "",
    "300 characters": "a" * 300,
    "only spaces": "   ",
    "script": "<script>alert(1)</script>",
    "formula": "=HYPERLINK(1)",
    "bidi": "a\u202eb",
    "number": 7,
}
LINKS = {
    "javascript": "javascript:alert(1)",
    "file": "file:///etc/passwd",
    "data": "data:text/html,x",
    "credentials": "https://user:secret@example.org/",
    "5,000 characters": "https://example.org/" + "a" * 5000,
}
HEX = random.Random(0).randbytes(3 << 20).hex()
CASES = [
    *(
        edited(
            53,
            f"revision {revision}",
            "E_REVISION",
            put_at("model.hub", {"id": "org/name", "revision": revision}),
        )
        for revision in ("main", "v1.0", "0" * 39, "G" * 40)
    ),
    Case(54, "no manifest", "E_MANIFEST_MISSING", no_manifest),
    raw_manifest(55, "over 5 MB", "E_MANIFEST_LARGE", lambda text: text[:-1] + f', "x": "{HEX}"}}'),
    raw_manifest(56, "byte order mark", "E_MANIFEST_ENCODING", lambda text: "\ufeff" + text),
    raw_manifest(56, "UTF-16", "E_MANIFEST_ENCODING", lambda text: text.encode("utf-16")),
    raw_manifest(
        56,
        "Latin-1",
        "E_MANIFEST_ENCODING",
        lambda text: text.replace("Painter", "Pä").encode("latin-1"),
    ),
    raw_manifest(57, "trailing comma", "E_MANIFEST_JSON", lambda text: text[:-1] + ",}"),
    raw_manifest(57, "two documents", "E_MANIFEST_JSON", lambda text: text + text),
    raw_manifest(57, "not JSON", "E_MANIFEST_JSON", lambda _: "hello"),
    raw_manifest(57, "empty", "E_MANIFEST_JSON", lambda _: ""),
    *(
        raw_manifest(58, number, "E_MANIFEST_NUMBER", partial(seeded, number))
        for number in ("NaN", "Infinity", "-Infinity", "1e999")
    ),
    raw_manifest(
        59,
        "key twice",
        "E_MANIFEST_DUPKEY",
        lambda text: text.replace('"seed": 1', '"seed": 1, "seed": 2'),
    ),
    raw_manifest(60, "100,000 brackets", "E_MANIFEST_DEPTH", lambda _: "[" * 100_000),
    raw_manifest(
        61,
        "5,000 digits",
        "E_MANIFEST_NUMBER",
        lambda t: t.replace('"seed": 1', f'"seed": {"9" * 5000}'),
    ),
    *(raw_manifest(62, repr(top), "E_SCHEMA", partial(whole, top)) for top in TOPS),
    *(
        edited(
            63, f"schema_version {version!r}", "E_SCHEMA_VERSION", put_at("schema_version", version)
        )
        for version in (0, 99, "1", 1.5, True)
    ),
    edited(64, "unknown field", "E_SCHEMA", put_at("subsett", "demo")),
    edited(64, "unknown inner field", "E_SCHEMA", put_at("files.0.shaa256", "x")),
    edited(65, "unknown suite", "E_SUITE", put_at("suite", "tailer")),
    edited(65, "wrong case", "E_SUITE", put_at("suite", "TailOR")),
    edited(66, "retired version", "E_SUITE_VERSION", put_at("suite_version", "0.1")),
    edited(
        67,
        "unknown item",
        "E_ITEM_UNKNOWN",
        put_at("files.0.sample", "cut_nothing.9.predictive.image"),
    ),
    edited(67, "no item", "E_ITEM_UNKNOWN", put_at("files.0.sample", None)),
    edited(68, "item twice", "E_ITEM_DUPLICATE", duplicate_item),
    edited(69, "items missing", "E_ITEM_MISSING", missing_item),
    Case(70, "partial", "", lambda to: bundle(to, pictures(2))),
    edited(71, "another setting", "E_ITEM_SETTING", put_at("files.0.setting", "imagined")),
    edited(71, "another scenario", "E_ITEM_SETTING", put_at("files.0.scenario", "impossible-ish")),
    edited(71, "another modality", "E_ITEM_SETTING", put_at("files.0.modality", "video")),
    edited(72, "file missing", "E_FILE_MISSING", missing_file),
    edited(73, "wrong sha256", "E_CHECKSUM", put_at("files.0.sha256", "0" * 64)),
    edited(74, "the same picture", "W_REPEATED_OUTPUT", same_bytes),
    *(edited(98, f"seed {seed!r}", "E_SEED", put_at("sampling.seed", seed)) for seed in seeds()),
    *(
        edited(row, f"no {field}", "E_SEED" if row == 98 else "E_DISCLOSURE", take_out(field))
        for field, row in WITHOUT
    ),
    edited(101, "empty statement", "E_DISCLOSURE", put_at("disclosure.statement", "")),
    *(
        edited(99, f"model name {what}", "E_NAME", put_at("model.name", name))
        for what, name in NAMES.items()
    ),
    *(
        edited(102, f"link {what}", "E_URL", put_at("model.link", link))
        for what, link in LINKS.items()
    ),
    edited(
        108,
        "private item",
        "E_ITEM_UNKNOWN",
        put_at("files.0.sample", f"private.{ids('image')[0]}"),
    ),
]

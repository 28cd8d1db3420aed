"""Bad bundles: one clear error each, with a code and a remedy, and nothing stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from typer.testing import CliRunner

from flows.cli.app import app
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission
from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from tests.bundles import drawn_outputs

Members = dict[str, bytes]
Manifest = dict[str, Any]


def missing_file(_manifest: Manifest, members: Members) -> None:
    members.pop(next(iter(members)))


def wrong_hash(manifest: Manifest, _members: Members) -> None:
    manifest["files"][0]["sha256"] = "0" * 64


def unknown_sample(manifest: Manifest, _members: Members) -> None:
    manifest["files"][0]["sample"] = "cut_nothing.9.predictive.image"
    manifest["partial"] = True


def broken_png(manifest: Manifest, members: Members) -> None:
    path = manifest["files"][0]["path"]
    members[path] = members[path][:-30]
    manifest["files"][0]["sha256"] = hashlib.sha256(members[path]).hexdigest()


def climbing_name(_manifest: Manifest, members: Members) -> None:
    members["../outside.png"] = b"x"


def thousandfold(_manifest: Manifest, members: Members) -> None:
    members["outputs/zeros.png"] = bytes(20 * 1024 * 1024)


def unlisted(_manifest: Manifest, members: Members) -> None:
    members["outputs/extra.png"] = b"x"


def missing_samples(manifest: Manifest, members: Members) -> None:
    members.pop(manifest["files"].pop()["path"])


def sample_twice(manifest: Manifest, _members: Members) -> None:
    manifest["files"][1]["sample"] = manifest["files"][0]["sample"]
    manifest["partial"] = True


def jpeg_named_png(manifest: Manifest, members: Members) -> None:
    from io import BytesIO

    from PIL import Image

    data = BytesIO()
    Image.new("RGB", (32, 32)).save(data, "JPEG")
    members[manifest["files"][0]["path"]] = data.getvalue()
    manifest["files"][0]["sha256"] = hashlib.sha256(data.getvalue()).hexdigest()


def bytes_behind(manifest: Manifest, members: Members) -> None:
    path = manifest["files"][0]["path"]
    members[path] += b"PK\x03\x04 and more"
    manifest["files"][0]["sha256"] = hashlib.sha256(members[path]).hexdigest()


def set_to(field: str, value: Any) -> Callable[[Manifest, Members], None]:
    def edit(manifest: Manifest, _members: Members) -> None:
        *path, last = field.split(".")
        part = manifest
        for name in path:
            part = part[name]
        part[last] = value

    edit.__name__ = f"{field}={str(value)[:12]}"
    return edit


def without(field: str) -> Callable[[Manifest, Members], None]:
    def edit(manifest: Manifest, _members: Members) -> None:
        del manifest[field]

    edit.__name__ = f"no {field}"
    return edit


EDITS = [
    (missing_file, "E_FILE_MISSING"),
    (wrong_hash, "E_CHECKSUM"),
    (unknown_sample, "E_ITEM_UNKNOWN"),
    (broken_png, "E_MEDIA_BROKEN"),
    (climbing_name, "E_PATH_ESCAPE"),
    (thousandfold, "E_BOMB"),
    (unlisted, "E_UNLISTED_FILE"),
    (missing_samples, "E_ITEM_MISSING"),
    (sample_twice, "E_ITEM_DUPLICATE"),
    (jpeg_named_png, "E_MEDIA_MISMATCH"),
    (bytes_behind, "E_MEDIA_EXTRA_DATA"),
    (set_to("suite", "tailer"), "E_SUITE"),
    (set_to("suite_version", "0.1"), "E_SUITE_VERSION"),
    (set_to("subset", "mine"), "E_SUBSET"),
    (set_to("schema_version", 2), "E_SCHEMA_VERSION"),
    (set_to("schema_version", True), "E_SCHEMA_VERSION"),
    (set_to("sampling.seed", -1), "E_SEED"),
    (set_to("model.name", "=HYPERLINK(1)"), "E_NAME"),
    (set_to("model.name", "<script>alert(1)</script>"), "E_NAME"),
    (set_to("team", "a\u202eb"), "E_NAME"),
    (set_to("model.link", "javascript:alert(1)"), "E_URL"),
    (set_to("surprise", 1), "E_SCHEMA"),
    (without("disclosure"), "E_DISCLOSURE"),
    (without("contact"), "E_DISCLOSURE"),
]


@pytest.mark.parametrize(("edit", "code"), EDITS, ids=[edit.__name__ for edit, _ in EDITS])
def test_a_bundle_with_one_fault_gets_that_code(
    tmp_path: Path, suites: Catalogue, edit: Any, code: str
) -> None:
    bundle = drawn_outputs(tmp_path / "bundle.zip", edit)

    with pytest.raises(IntakeError) as refused:
        check(bundle, suites)

    assert {problem.code for problem in refused.value.problems} == {code}
    assert all(problem.message and problem.hint for problem in refused.value.problems)


RAW = [
    (lambda text: text.replace('"seed": 1', '"seed": NaN'), "E_MANIFEST_NUMBER"),
    (lambda text: text.replace('"seed": 1', '"seed": 1e999'), "E_MANIFEST_NUMBER"),
    (lambda text: text.replace('"seed": 1', f'"seed": {"9" * 5000}'), "E_MANIFEST_NUMBER"),
    (lambda text: text.replace('"seed": 1', '"seed": 1, "seed": 2'), "E_MANIFEST_DUPKEY"),
    (lambda text: text[:-1] + ",}", "E_MANIFEST_JSON"),
    (lambda text: text + text, "E_MANIFEST_JSON"),
    (lambda _: "[" * 100_000, "E_MANIFEST_DEPTH"),
    (lambda _: "[]", "E_SCHEMA"),
    (lambda text: "\ufeff" + text, "E_MANIFEST_ENCODING"),
]


@pytest.mark.parametrize(
    ("spoil", "code"), RAW, ids=[f"{number} {code}" for number, (_, code) in enumerate(RAW)]
)
def test_a_manifest_that_is_no_plain_json_is_refused(
    tmp_path: Path, suites: Catalogue, spoil: Any, code: str
) -> None:
    import zipfile

    good = drawn_outputs(tmp_path / "good.zip")
    with zipfile.ZipFile(good) as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist()}
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w") as bundle:
        for name, data in members.items():
            bundle.writestr(name, spoil(data.decode()) if name == "manifest.json" else data)

    with pytest.raises(IntakeError) as refused:
        check(bad, suites)

    assert [problem.code for problem in refused.value.problems] == [code]


FILES = [
    (b"", "E_EMPTY"),
    (b"%PDF-1.7 not a zip at all", "E_NOT_ZIP"),
    (b"\x1f\x8b\x08\x00 gzip", "E_ARCHIVE_KIND"),
    (b"PK\x03\x04 cut short", "E_ZIP_BROKEN"),
]


@pytest.mark.parametrize(("data", "code"), FILES, ids=[code for _, code in FILES])
def test_a_file_that_is_no_zip_is_refused(
    tmp_path: Path, suites: Catalogue, data: bytes, code: str
) -> None:
    bundle = tmp_path / "bundle.zip"
    bundle.write_bytes(data)

    with pytest.raises(IntakeError) as refused:
        check(bundle, suites)

    assert [problem.code for problem in refused.value.problems] == [code]


def test_every_problem_is_reported_at_once(tmp_path: Path, suites: Catalogue) -> None:
    def spoil(manifest: Manifest, members: Members) -> None:
        wrong_hash(manifest, members)
        for file in manifest["files"][1:4]:
            members[file["path"]] = members[file["path"]][:-30]
            file["sha256"] = hashlib.sha256(members[file["path"]]).hexdigest()

    bundle = drawn_outputs(tmp_path / "bundle.zip", spoil)

    with pytest.raises(IntakeError) as refused:
        check(bundle, suites)

    codes = sorted(problem.code for problem in refused.value.problems)
    assert codes == ["E_CHECKSUM", "E_MEDIA_BROKEN", "E_MEDIA_BROKEN", "E_MEDIA_BROKEN"]


def test_a_sound_bundle_passes_and_static_pictures_get_a_word(
    tmp_path: Path, suites: Catalogue
) -> None:
    bundle = drawn_outputs(tmp_path / "bundle.zip")

    found = check(bundle, suites)

    assert len(found.media) == len(found.expected) == 30
    assert not found.warnings


@pytest.mark.parametrize(
    "edit", [missing_file, wrong_hash, broken_png, climbing_name, thousandfold]
)
def test_the_command_line_leaves_with_two_and_stores_nothing(
    ready: Settings, tmp_path: Path, edit: Any
) -> None:
    bundle = drawn_outputs(tmp_path / "bundle.zip", edit)

    result = CliRunner().invoke(app, ["submit", str(bundle)])

    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert "Nothing was stored" in result.output
    with session(ready.database) as db:
        assert not db.exec(select(Submission).where(Submission.trust != "C")).all()
    assert [path for path in Path(ready.objects).rglob("*") if path.is_file()] == []


def test_no_message_tells_where_the_server_keeps_things(tmp_path: Path, suites: Catalogue) -> None:
    for edit, _ in EDITS:
        bundle = drawn_outputs(tmp_path / "bundle.zip", edit)

        with pytest.raises(IntakeError) as refused:
            check(bundle, suites)

        said = json.dumps([(p.where, p.message, p.hint) for p in refused.value.problems])
        assert str(tmp_path) not in said


def test_a_kind_that_the_suite_does_not_take_is_refused(
    suites: Catalogue, outputs_bundle: Callable[..., Path]
) -> None:
    models_only = {**suites, "tailor": replace(suites["tailor"], accepts=("model",))}

    with pytest.raises(IntakeError) as refused:
        check(outputs_bundle(), models_only)

    assert [problem.code for problem in refused.value.problems] == ["E_KIND"]

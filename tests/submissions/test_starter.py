"""A folder to begin with, and the bundle that comes of it, for every suite."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from evaluators.suites import suite_named, suite_names
from flows.cli.starter import chosen_samples, new_entry, packed_folder
from flows.run.catalogue import from_code
from submissions.bundle.check import check
from submissions.format import manifest as manifests
from submissions.format.errors import IntakeError
from submissions.tools.starter import ENDINGS, EntryFacts
from tests.command import Machine

OURS = ("tailor", "liva", "sc3", "universe")


def facts(suite: str) -> EntryFacts:
    return EntryFacts(suite, suite_named(suite).version, "demo", "Owls", "Owl 2B", "a@b.org")


def painted(folder: Path, modality: str = "image") -> list[str]:
    """Paint what the prompts ask for, as a model would; the ids of what was painted."""
    lines = [json.loads(line) for line in (folder / "prompts.jsonl").read_text().splitlines()]
    chosen = [line for line in lines if line["modality"] == modality]
    for number, line in enumerate(chosen):
        colour = (number * 7 % 256, number * 31 % 256, 90)
        picture = Image.new("RGB", (64, 48), colour)
        picture.paste((250, 250, 250), (number % 40, 10, number % 40 + 12, 30))
        picture.save(folder / line["output"])
    return [line["sample"] for line in chosen]


@pytest.mark.parametrize("suite", OURS)
def test_a_new_entry_has_a_valid_manifest_every_prompt_and_its_media(
    suite: str, tmp_path: Path
) -> None:
    count = new_entry(tmp_path / "entry", facts(suite), "*")

    declared = json.loads((tmp_path / "entry" / "manifest.json").read_text())
    example = {**declared, "files": [{"path": "outputs/x.png", "sha256": "0" * 64, "sample": "x"}]}
    lines = [
        json.loads(line) for line in (tmp_path / "entry" / "prompts.jsonl").read_text().splitlines()
    ]
    samples = chosen_samples(suite_named(suite), "demo", "*")
    assert manifests.parse(json.dumps(example).encode()).suite_version == suite_named(suite).version
    assert [line["sample"] for line in lines] == [sample.id for sample in samples]
    assert count == len(lines) > 0
    assert all(line["output"].endswith(ENDINGS[line["modality"]][0]) for line in lines)
    for line in lines:
        assert "media" not in line or (tmp_path / "entry" / line["media"]).exists()
    assert (tmp_path / "entry" / "outputs").is_dir()


@pytest.mark.parametrize("suite", [s for s in suite_names() if suite_named(s).hand_out])
def test_what_a_sample_starts_from_is_handed_out_and_tells_no_end(
    suite: str, tmp_path: Path
) -> None:
    samples = chosen_samples(suite_named(suite), "demo", "*")
    hand_out = suite_named(suite).hand_out
    assert hand_out is not None

    names = {sample.id: hand_out(sample, tmp_path) for sample in samples}

    assert all((tmp_path / name).exists() for name in names.values())


def test_files_named_by_sample_become_a_bundle_that_the_server_takes(tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    new_entry(folder, facts("tailor"), "*")
    ids = painted(folder)

    packed = packed_folder(folder, tmp_path / "entry.zip")

    checked = check(packed.path, from_code())
    assert packed.files == len(ids) == len(checked.expected)
    assert packed.modalities == ("image",) and packed.left_out == ("video",)
    assert {file.sample for file in checked.manifest.files} == set(ids)


def test_a_missing_file_a_wrong_name_and_a_wrong_ending_are_told_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    new_entry(folder, facts("tailor"), "image")
    ids = painted(folder)
    outputs = folder / "outputs"
    (outputs / f"{ids[0]}.png").rename(outputs / f"{ids[0][:-1]}.png")
    (outputs / f"{ids[1]}.png").rename(outputs / f"{ids[1]}.gif")

    with pytest.raises(IntakeError) as refused:
        packed_folder(folder, tmp_path / "entry.zip")

    problems = {problem.code: problem for problem in refused.value.problems}
    assert problems["E_ITEM_UNKNOWN"].hint == f"Did you mean {ids[0]!r}?"
    assert ".png" in problems["E_MEDIA_TYPE"].message
    assert "2 of" in problems["E_ITEM_MISSING"].message
    assert not (tmp_path / "entry.zip").exists()


def test_a_hint_never_names_a_file_that_has_its_place_already(tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    new_entry(folder, facts("tailor"), "image")
    ids = painted(folder)
    (folder / "outputs" / f"{ids[0]}x.png").write_bytes(b"")

    with pytest.raises(IntakeError) as refused:
        packed_folder(folder, tmp_path / "entry.zip")

    (problem,) = refused.value.problems
    assert repr(ids[0]) not in problem.hint


def test_a_partial_entry_says_so_only_if_something_is_missing(tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    new_entry(folder, facts("tailor"), "image")
    ids = painted(folder)
    whole = packed_folder(folder, tmp_path / "whole.zip", partial=True)
    (folder / "outputs" / f"{ids[0]}.png").unlink()

    part = packed_folder(folder, tmp_path / "part.zip", partial=True)

    assert not check(whole.path, from_code()).manifest.partial
    assert check(part.path, from_code()).manifest.partial


def test_the_same_files_make_the_same_bundle(tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    new_entry(folder, facts("tailor"), "image")
    painted(folder)

    first = packed_folder(folder, tmp_path / "a.zip").path.read_bytes()

    assert packed_folder(folder, tmp_path / "b.zip").path.read_bytes() == first


def test_a_zipped_folder_is_told_where_its_manifest_lies(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as bundle:
        bundle.writestr("my-bundle/manifest.json", "{}")

    with pytest.raises(IntakeError) as refused:
        check(tmp_path / "b.zip", from_code())

    (problem,) = refused.value.problems
    assert problem.code == "E_MANIFEST_MISSING"
    assert "my-bundle/manifest.json" in problem.message and "Zip what is in" in problem.hint


def test_a_folder_is_begun_packed_and_checked_by_commands(tmp_path: Path) -> None:
    machine, folder = Machine(tmp_path / "home"), tmp_path / "my-entry"

    machine.run("new", "tailor", str(folder), "--subset", "demo", "--team", "Owls")
    painted(folder)
    checked = machine.run("check", str(folder))
    packed = machine.run("pack", str(folder))
    again = machine.run("new", "tailor", str(folder), status=2)

    assert "Good: my-entry, 30 files" in checked
    assert f"armillary submit {tmp_path / 'my-entry.zip'}" in packed
    assert json.loads(machine.run("check", str(folder), "--json"))["good"] is True
    assert "manifest.json already" in again

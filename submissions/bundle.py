"""A handed-in bundle, read and checked whole: what it declares, what it holds, and whether the two agree."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from submissions import manifest as manifests
from submissions.archive import Archive, Limits, open_archive
from submissions.errors import IntakeError, Problem, shown
from submissions.manifest import File, Manifest
from submissions.media import MediaFacts, Refused, inspect
from submissions.weights import config_problems, name_problems, safetensors_problems

NAMED_AT_ONCE = 20
MOST_REPEATED = 0.05


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """What the intake has to know of a suite; `items` maps a sample's id to its modality."""

    name: str
    version: str
    accepts: tuple[str, ...]
    items: Mapping[str, str]
    subsets: Mapping[str, frozenset[str]]


Catalogue = Mapping[str, SuiteFacts]


@dataclass(frozen=True, slots=True)
class Checked:
    """A bundle that passed, with what was found in each output file and what is worth a word."""

    manifest: Manifest
    media: Mapping[str, MediaFacts]
    warnings: tuple[Problem, ...]
    expected: tuple[str, ...]


def check(path: Path, catalogue: Catalogue, limits: Limits | None = None) -> Checked:
    """Read a bundle completely; IntakeError lists every problem, and nothing is kept."""
    with open_archive(path, limits) as archive:
        if manifests.NAME not in archive.members:
            raise IntakeError([_missing_manifest()])
        manifest = manifests.parse(archive.read(manifests.NAME, manifests.MOST_BYTES))
        expected = _expected(manifest, catalogue)
        _raise_if(list(_listing_problems(manifest, archive, expected)))
        media, problems = _contents(manifest, archive, catalogue[manifest.suite])
        _raise_if(problems)
    return Checked(manifest, media, tuple(_warnings(manifest, archive, media)), expected)


def _missing_manifest() -> Problem:
    return Problem(
        "E_MANIFEST_MISSING", "bundle", "There is no manifest.json at the top.", "See submissions/README.md."
    )


def _raise_if(problems: Sequence[Problem]) -> None:
    if problems:
        raise IntakeError(problems)


def _expected(manifest: Manifest, catalogue: Catalogue) -> tuple[str, ...]:
    """The samples this submission should answer: its subset, its modalities."""
    suite = catalogue.get(manifest.suite)
    if suite is None:
        raise _refused(
            "E_SUITE", "suite", f"There is no suite {shown(manifest.suite)}.", f"Use one of {', '.join(catalogue)}."
        )
    if manifest.suite_version != suite.version:
        raise _refused(
            "E_SUITE_VERSION", "suite_version", f"Got {shown(manifest.suite_version)}.", f"Now: {suite.version}."
        )
    if manifest.kind not in suite.accepts:
        ways = " or ".join(suite.accepts) or "nothing yet"
        raise _refused("E_KIND", "kind", f"{suite.name} does not take {manifest.kind}.", f"It takes {ways}.")
    if manifest.subset not in suite.subsets:
        raise _refused(
            "E_SUBSET", "subset", f"Got {shown(manifest.subset)}.", f"Use one of {', '.join(suite.subsets)}."
        )
    chosen = suite.subsets[manifest.subset]
    return tuple(item for item, modality in suite.items.items() if item in chosen and modality in manifest.modalities)


def _refused(code: str, field: str, message: str, hint: str) -> IntakeError:
    return IntakeError([Problem(code, f"manifest.{field}", message, hint)])


def _listing_problems(manifest: Manifest, archive: Archive, expected: Sequence[str]) -> Iterator[Problem]:
    """Does the manifest name just what the zip holds, each sample once, and all of them?"""
    listed: set[str] = set()
    for number, file in enumerate(manifest.files):
        where = f"manifest.files[{number}]"
        if file.path in listed:
            yield Problem("E_DUPLICATE_ENTRY", where, f"{shown(file.path)} is listed twice.", "List each file once.")
        elif file.path not in archive.members:
            near = get_close_matches(file.path, archive.members, 1)
            hint = f"Did you mean {near[0]!r}?" if near else "Add the file, or take it off the list."
            yield Problem("E_FILE_MISSING", where, f"{shown(file.path)} is not in the bundle.", hint)
        listed.add(file.path)
    for name in sorted(archive.members.keys() - listed - {manifests.NAME}):
        yield Problem(
            "E_UNLISTED_FILE", shown(name), "The manifest does not name this file.", "List it or leave it out."
        )
    if manifest.kind == "outputs":
        yield from _item_problems(manifest, expected)


def _item_problems(manifest: Manifest, expected: Sequence[str]) -> Iterator[Problem]:
    wanted, seen = set(expected), set[str]()
    for number, file in enumerate(manifest.files):
        where = f"manifest.files[{number}].sample"
        if file.sample is None or file.sample not in wanted:
            near = get_close_matches(file.sample or "", expected, 1)
            hint = f"Did you mean {near[0]!r}?" if near else "List the ids with `armillary samples SUITE`."
            yield Problem("E_ITEM_UNKNOWN", where, f"{shown(file.sample)} is no sample of this submission.", hint)
        elif file.sample in seen:
            yield Problem("E_ITEM_DUPLICATE", where, f"{shown(file.sample)} has two files.", "Keep one.")
        seen.add(file.sample or "")
    missing = [item for item in expected if item not in seen]
    if missing and not manifest.partial:
        first = ", ".join(missing[:NAMED_AT_ONCE])
        message = f"{len(missing)} of {len(expected)} samples have no file, first: {first}."
        yield Problem(
            "E_ITEM_MISSING", "manifest.files", message, "Add them, or say partial: true (shown, never ranked)."
        )


def _contents(manifest: Manifest, archive: Archive, suite: SuiteFacts) -> tuple[dict[str, MediaFacts], list[Problem]]:
    """Read every file once: its hash, and whether it is sound."""
    media: dict[str, MediaFacts] = {}
    problems: list[Problem] = []
    with tempfile.TemporaryDirectory(prefix="armillary-check-") as folder:
        for file in manifest.files:
            spot = Path(folder) / "member"
            try:
                with spot.open("wb") as stream:
                    found = archive.copy(file.path, stream)
            except IntakeError as error:
                problems += error.problems
                continue
            if found != file.sha256:
                problems.append(_wrong_hash(file, found))
            elif manifest.kind == "model":
                problems += _model_problems(file.path, spot)
            else:
                problems += _output_problems(file, spot, suite, media)
    return media, problems


def _wrong_hash(file: File, found: str) -> Problem:
    message = f"Its SHA-256 is {found[:12]}…, the manifest says {file.sha256[:12]}…."
    return Problem("E_CHECKSUM", shown(file.path), message, "Make the manifest again from the files you hand in.")


def _model_problems(path: str, spot: Path) -> Iterator[Problem]:
    yield from name_problems(path)
    if path.endswith(".safetensors"):
        with spot.open("rb") as stream:
            yield from safetensors_problems(path, stream, spot.stat().st_size)
    elif path.endswith(".json"):
        yield from config_problems(path, spot.read_bytes())


def _output_problems(file: File, spot: Path, suite: SuiteFacts, media: dict[str, MediaFacts]) -> Iterator[Problem]:
    sample = file.sample or ""
    try:
        media[sample] = inspect(spot, file.path, suite.items[sample])
    except Refused as refused:
        yield refused.at(file.path)


def _warnings(manifest: Manifest, archive: Archive, media: Mapping[str, MediaFacts]) -> Iterator[Problem]:
    for name in archive.ignored:
        yield Problem("W_IGNORED", shown(name), "A left-over of a file manager; ignored.", "Nothing to do.")
    for sample, facts in media.items():
        if facts.static:
            yield Problem(
                "W_STATIC", sample, "One colour, or a clip in which nothing changes.", "It is scored as it is."
            )
    hashes = [file.sha256 for file in manifest.files if file.sample]
    repeated = len(hashes) - len(set(hashes))
    if hashes and repeated / len(hashes) > MOST_REPEATED:
        yield Problem(
            "W_REPEATED_OUTPUT", "bundle", f"{repeated} outputs repeat another's bytes.", "Shown beside the entry."
        )

"""Starter folders from what a suite says of itself: its samples, their media, its version."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from evaluators.contracts import Sample, Suite
from evaluators.suites import suite_named
from flows.run.catalogue import from_code
from infra.settings import Settings
from submissions.bundle.check import CheckedBundle
from submissions.bundle.declarations import read_declaration
from submissions.bundle.reader_pool import readers_of
from submissions.format import manifest as manifests
from submissions.format.errors import refusal, shown
from submissions.format.suggestions import no_such
from submissions.tools.starter import (
    MEDIA,
    EntryFacts,
    PackedEntry,
    StarterSample,
    check_is_new,
    pack_entry,
    write_starter,
)


def chosen_samples(suite: Suite, subset: str, modality: str) -> list[Sample]:
    """A suite's samples of one subset and modality, `*` for all."""
    belongs = suite.subsets[subset]
    return [
        sample
        for sample in suite.samples()
        if belongs(sample) and modality in ("*", sample.facets.modality)
    ]


def handed_out(suite: Suite, sample: Sample, folder: Path) -> str:
    """Write what a sample starts from into a folder, and give its name there; empty where the
    prompt is all there is."""
    return suite.hand_out(sample, folder) if suite.hand_out else ""


def new_entry(folder: Path, facts: EntryFacts, modality: str) -> int:
    """Write a starter folder; how many samples it has."""
    suite = suite_named(facts.suite)
    samples = chosen_samples(suite, facts.subset, modality)
    check_is_new(folder)
    media = folder / MEDIA
    if suite.hand_out:
        media.mkdir(parents=True, exist_ok=True)
    listed = [
        StarterSample(s.id, s.facets.modality, s.prompt, handed_out(suite, s, media))
        for s in samples
    ]
    write_starter(folder, facts, listed)
    return len(listed)


def packed_folder(folder: Path, to: Path, partial: bool = False) -> PackedEntry:
    """The bundle of a starter folder."""
    declaration = read_declaration(folder / manifests.NAME)
    name, subset = str(declaration.get("suite", "")), str(declaration.get("subset", "full"))
    catalogue = from_code()
    if name not in catalogue:
        where = shown(str(folder / manifests.NAME))
        raise refusal("E_SUITE", where, no_such("suite", name, catalogue), "Name one of them.")
    facts = catalogue[name]
    members = facts.subsets.get(subset)
    if members is None:
        where = shown(str(folder / manifests.NAME))
        message = no_such("subset", subset, facts.subsets, within=name)
        raise refusal("E_SUBSET", where, message, "Name one of them.")
    expected = {item: kind for item, kind in facts.items.items() if item in members}
    return pack_entry(folder, to, expected, partial)


def checked_folder(settings: Settings, folder: Path) -> CheckedBundle:
    """What the server would say of a folder's bundle; the bundle itself is not kept."""
    with TemporaryDirectory(prefix="armillary-check-") as temporary:
        bundle = packed_folder(folder, Path(temporary) / "bundle.zip").path
        return readers_of(settings).check(bundle, from_code())

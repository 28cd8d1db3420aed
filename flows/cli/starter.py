"""Starter folders from what a suite says of itself: its samples, their media, its version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluators.contracts import Sample, Suite
from evaluators.suites import suite_named, suite_names
from flows.run.catalogue import from_code
from infra.settings import Settings
from submissions.bundle.check import CheckedBundle
from submissions.bundle.declarations import read_declaration
from submissions.bundle.reader_pool import readers_of
from submissions.bundle.stand_ins import draw_stand_ins
from submissions.format import manifest as manifests
from submissions.format.errors import refusal, shown
from submissions.format.suggestions import no_such
from submissions.tools.level_media import level_media
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


def stand_ins(
    suite: Suite, listed: Sequence[Sample], blocked: Sequence[str], seed: int
) -> list[Sample]:
    """What stands in for blocked samples of a list, as the door and the evaluation draw it."""
    by_id = {sample.id: sample for sample in suite.samples()}
    if unknown := [name for name in blocked if name not in by_id]:
        message = no_such("sample", unknown[0], by_id, within=suite.name)
        raise refusal("E_ITEM_UNKNOWN", "--blocked", message, "Name a sample of this list.")
    facts = from_code()[suite.name]
    subset = {sample.id for sample in listed}
    drawn = draw_stand_ins(blocked, subset, facts.rules, seed)
    return [by_id[drawn[name]] for name in blocked if name in drawn]


def handed_out(suite: Suite, samples: Sequence[Sample], folder: Path) -> list[str]:
    """Write what samples start from into a folder, alike in size and time, and give the name of
    each there; empty where the prompt is all there is."""
    if not suite.hand_out:
        return [""] * len(samples)
    folder.mkdir(parents=True, exist_ok=True)
    names = [suite.hand_out(sample, folder) for sample in samples]
    level_media(folder / name for name in names if name)
    return names


def version_of(name: str) -> str:
    """The version that a suite has now; IntakeError for a suite that is not there."""
    _check_is_one("E_SUITE", "suite", name, suite_names())
    return suite_named(name).version


def new_entry(folder: Path, facts: EntryFacts, modality: str) -> int:
    """Write a starter folder; how many samples it has."""
    suite = suite_named(facts.suite)
    modalities = {sample.facets.modality for sample in suite.samples()}
    _check_is_one("E_SUBSET", "subset", facts.subset, suite.subsets)
    _check_is_one("E_MODALITY", "modality", modality, ["*", *sorted(modalities)])
    samples = chosen_samples(suite, facts.subset, modality)
    check_is_new(folder)
    names = handed_out(suite, samples, folder / MEDIA)
    listed = [
        StarterSample(sample.id, sample.facets.modality, sample.prompt, media)
        for sample, media in zip(samples, names, strict=True)
    ]
    write_starter(folder, facts, listed)
    return len(listed)


def _check_is_one(code: str, noun: str, name: str, names: Iterable[str]) -> None:
    listed = list(names)
    if name not in listed:
        raise refusal(code, noun, no_such(noun, name, listed), "Name one of them.")


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

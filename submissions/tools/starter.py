"""A folder to begin an entry with: a filled manifest, the prompts, what to start from, a place for
the outputs; and the bundle that comes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from submissions.bundle.declarations import read_declaration
from submissions.bundle.pack import pack_outputs
from submissions.format import manifest as manifests
from submissions.format.errors import IntakeError, Problem, refusal, shown
from submissions.format.layout import junk
from submissions.format.suggestions import did_you_mean

OUTPUTS, MEDIA, PROMPTS, README = "outputs", "media", "prompts.jsonl", "README.txt"
ENDINGS = {
    "image": (".png", ".jpg", ".jpeg", ".webp"),
    "video": (".mp4", ".webm"),
    "text": (".txt",),
    "actions": (".json",),
    "outcome": (".json",),
    "trajectory": (".npz",),
}
"""How the file of a sample may end, by its modality."""
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class StarterSample:
    """One sample as a starter folder lists it; `media` is what it starts from, by its name."""

    id: str
    modality: str
    prompt: str
    media: str = ""

    def line(self) -> str:
        """As a line of prompts.jsonl."""
        fields = {"sample": self.id, "modality": self.modality, "prompt": self.prompt}
        extra = {"media": f"{MEDIA}/{self.media}"} if self.media else {}
        file = f"{OUTPUTS}/{self.id}{ENDINGS[self.modality][0]}"
        return json.dumps({**fields, **extra, "output": file}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What a manifest has to say beside its files."""

    suite: str
    suite_version: str
    subset: str
    team: str
    model: str
    contact: str


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """The bundle that was made of a folder, and what it holds."""

    path: Path
    files: int
    modalities: tuple[str, ...]
    left_out: tuple[str, ...]


def declaration_of(facts: EntryFacts, modalities: Sequence[str]) -> dict[str, Any]:
    """A manifest without files that passes the check as it is; what nobody said is said so."""
    return {
        "schema_version": 1,
        "suite": facts.suite,
        "suite_version": facts.suite_version,
        "subset": facts.subset,
        "kind": "outputs",
        "modalities": list(modalities),
        "partial": False,
        "team": facts.team,
        "contact": facts.contact,
        "model": {
            "name": facts.model,
            "revision": "not stated",
            "organisation": facts.team,
            "licence": "not stated",
            "open_weights": False,
        },
        "disclosure": {"trained_on_suite_data": "unknown", "statement": "Not stated."},
        "sampling": {"seed": 0},
    }


def write_starter(folder: Path, facts: EntryFacts, samples: Sequence[StarterSample]) -> Path:
    """Write everything but the media; a folder that holds a manifest already is left alone."""
    check_is_new(folder)
    (folder / OUTPUTS).mkdir(parents=True, exist_ok=True)
    modalities = sorted({sample.modality for sample in samples})
    declaration = json.dumps(declaration_of(facts, modalities), indent=2, ensure_ascii=False)
    (folder / manifests.NAME).write_text(declaration + "\n", "utf-8")
    lines = "".join(f"{sample.line()}\n" for sample in samples)
    (folder / PROMPTS).write_text(lines, "utf-8")
    (folder / README).write_text(_instructions(folder.name, facts, samples), "utf-8")
    return folder


def check_is_new(folder: Path) -> None:
    """Refuse a folder in which an entry was begun already."""
    if (folder / manifests.NAME).exists():
        message = f"The folder holds a {manifests.NAME} already."
        raise refusal("E_ARGUMENTS", shown(str(folder)), message, "Choose a new folder.")


def _instructions(name: str, facts: EntryFacts, samples: Sequence[StarterSample]) -> str:
    kinds = sorted({sample.modality for sample in samples})
    endings = "; ".join(f"{kind}: {' or '.join(ENDINGS[kind])}" for kind in kinds)
    media = "media/ holds what a sample starts from.\n" if any(s.media for s in samples) else ""
    return (
        f"An entry for {facts.suite} {facts.suite_version}, subset {facts.subset}, "
        f"{len(samples)} samples.\n\n"
        f"1. {PROMPTS} has one line a sample: its id, its prompt, and the file to write.\n{media}"
        f"2. Put one file a sample into {OUTPUTS}/, called by the sample's id ({endings}).\n"
        f"   A model of one modality may leave the samples of the others out.\n"
        f"3. {manifests.NAME} says who you are; read it once.\n\n"
        f"armillary check {name}\n"
        f"armillary pack {name}\n"
        f"armillary submit {name}.zip --server ADDRESS\n"
    )


def pack_entry(
    folder: Path, to: Path, expected: Mapping[str, str], partial: bool = False
) -> PackedEntry:
    """Bundle the outputs of a folder, each file for the sample it is called by.

    `expected` are the samples of the manifest's subset with their modalities. Modalities without a
    single file are taken off the manifest; in the others every sample must have its file unless
    the entry is partial.
    """
    declaration = read_declaration(folder / manifests.NAME)
    wanted = {name: kind for name, kind in expected.items() if kind in _declared(declaration)}
    outputs, problems = _outputs(folder, wanted)
    modalities = tuple(sorted({wanted[sample] for sample in outputs}))
    is_partial = partial or declaration.get("partial") is True
    missing = [s for s, kind in wanted.items() if kind in modalities and s not in outputs]
    if not outputs and not problems:
        problems.append(_nothing(folder, wanted))
    elif missing and not is_partial:
        problems.append(_missing(folder, missing, wanted))
    if problems:
        raise IntakeError(problems)
    whole = {**declaration, "modalities": list(modalities), "partial": is_partial and bool(missing)}
    whole.pop("schema_version", None)
    whole.pop("kind", None)
    pack_outputs(to, whole, outputs)
    left_out = tuple(sorted(set(_declared(declaration)) - set(modalities)))
    return PackedEntry(to, len(outputs), modalities, left_out)


def _declared(declaration: Mapping[str, Any]) -> list[str]:
    modalities = declaration.get("modalities")
    return [str(kind) for kind in modalities] if isinstance(modalities, list) else []


def _outputs(folder: Path, wanted: Mapping[str, str]) -> tuple[dict[str, Path], list[Problem]]:
    """The file of each sample, and what is wrong with the others."""
    outputs: dict[str, Path] = {}
    problems: list[Problem] = []
    for path in _files(folder):
        sample, where = path.stem, f"{OUTPUTS}/{path.name}"
        kind = wanted.get(sample)
        if kind is None:
            problems.append(_unknown(where, sample, wanted, outputs))
        elif path.suffix.lower() not in ENDINGS[kind]:
            ways = " or ".join(ENDINGS[kind])
            message = f"This sample is {kind}; its file ends in {ways}."
            problems.append(Problem("E_MEDIA_TYPE", shown(where), message, "Save it so."))
        elif sample in outputs:
            message = f"{shown(sample)} has two files."
            problems.append(Problem("E_ITEM_DUPLICATE", shown(where), message, "Keep one."))
        else:
            outputs[sample] = path
    return outputs, problems


def _files(folder: Path) -> list[Path]:
    place = folder / OUTPUTS
    if not place.is_dir():
        return []
    return sorted(path for path in place.iterdir() if path.is_file() and not junk(path.name))


def _unknown(
    where: str, sample: str, wanted: Mapping[str, str], outputs: Mapping[str, Path]
) -> Problem:
    """A file that is called by no sample; a name that has its file already is not offered."""
    hint = did_you_mean(sample, [name for name in wanted if name not in outputs])
    message = f"No sample of this entry is called {shown(sample)}."
    return Problem("E_ITEM_UNKNOWN", shown(where), message, hint or f"{PROMPTS} lists them.")


def _nothing(folder: Path, wanted: Mapping[str, str]) -> Problem:
    first = next(iter(wanted), "")
    example = f"{OUTPUTS}/{first}{ENDINGS[wanted[first]][0]}" if first else OUTPUTS
    message = "There is no output yet."
    return Problem("E_ITEM_MISSING", shown(str(folder)), message, f"Write {example}, and so on.")


def _missing(folder: Path, missing: Sequence[str], wanted: Mapping[str, str]) -> Problem:
    first = ", ".join(missing[:MOST_NAMED])
    message = f"{len(missing)} of {len(wanted)} samples have no file, first: {first}."
    hint = "Add them, or pack with --partial (shown, never ranked)."
    return Problem("E_ITEM_MISSING", shown(str(folder / OUTPUTS)), message, hint)

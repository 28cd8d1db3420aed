"""A set of cases: a folder of pictures and sidecars, checked as a whole; the set of our own; taking
in another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evaluators.media import Unreadable, read_image, write_png
from evaluators.suites.liva.cases.case import AvatarCase, sidecar
from evaluators.suites.liva.cases.shapes import shapes
from evaluators.suites.liva.cases.sidecar import Sidecar, SidecarFinding, read_sidecar

OWN = Path(__file__).parents[1] / "data" / "cases"
SIDECARS = ("*.yaml", "*.yml")
SMALLEST = 64
SHOWN = 20
WORD = re.compile(r"[a-z]+")


class UnsoundCases(ValueError):
    """The set cannot be used; the message lists what is wrong with it, line by line."""


@dataclass(frozen=True, slots=True)
class Cases:
    """What a folder holds: the cases that could be read, and everything found wrong or doubtful."""

    cases: tuple[AvatarCase, ...]
    findings: tuple[SidecarFinding, ...]

    @property
    def errors(self) -> tuple[SidecarFinding, ...]:
        """The findings that keep the set from being used."""
        return tuple(finding for finding in self.findings if finding.severity == "error")


def read_folder(folder: Path) -> Cases:
    """Read and check every sidecar of a folder."""
    paths = sorted({path for pattern in SIDECARS for path in folder.glob(pattern)})
    if not paths:
        return Cases(
            (),
            (
                SidecarFinding(
                    folder.name,
                    1,
                    "There is no .yaml file here. Put a sidecar beside each picture.",
                ),
            ),
        )
    read = [read_sidecar(path) for path in paths]
    for sidecar_read in read:
        _check_picture(sidecar_read)
    _check_ids(read)
    _check_words(read)
    cases = tuple(sidecar_read.case for sidecar_read in read if sidecar_read.case)
    return Cases(
        cases, tuple(finding for sidecar_read in read for finding in sidecar_read.findings)
    )


def load(folder: Path = OWN) -> tuple[AvatarCase, ...]:
    """The cases of a sound folder; UnsoundCases lists the errors."""
    folder_cases = read_folder(folder)
    if folder_cases.errors:
        listed = "\n".join(str(finding) for finding in folder_cases.errors[:SHOWN])
        raise UnsoundCases(
            f"The cases in {folder.name} have {len(folder_cases.errors)} errors:\n{listed}\n"
            "Correct them first."
        )
    return folder_cases.cases


@cache
def own() -> tuple[AvatarCase, ...]:
    """The set that comes with the suite."""
    return load()


def take_in(folder: Path, to: Path) -> Cases:
    """Copy a sound folder: pictures as PNG without metadata, sidecars in one form; nothing is
    written otherwise."""
    cases = load(folder)
    to.mkdir(parents=True, exist_ok=True)
    for case in cases:
        write_png(read_image(case.image_path), to / f"{case.case_id}.png")
        copied = replace(case, image=f"{case.case_id}.png", folder=to)
        (to / f"{case.case_id}.yaml").write_text(sidecar(copied), "utf-8")
    return read_folder(to)


def _check_picture(read: Sidecar) -> None:
    if read.case is None:
        return
    try:
        height, width, _ = read_image(read.case.image_path).shape
    except FileNotFoundError:
        read.wrong(
            read.line("image"), f"There is no picture {read.case.image!r} beside the sidecar."
        )
        return
    except (Unreadable, OSError) as error:
        read.wrong(read.line("image"), f"The picture cannot be opened: {error}")
        return
    if min(height, width) < SMALLEST:
        read.wrong(
            read.line("image"),
            f"The picture has {width} x {height} pixels; {SMALLEST} a side are the least.",
        )


def _check_ids(reads: Sequence[Sidecar]) -> None:
    path_by_id: dict[str, str] = {}
    for read in reads:
        if (
            read.case
            and (first_path := path_by_id.setdefault(read.case.case_id, read.path.name))
            != read.path.name
        ):
            read.wrong(
                read.line("case_id"),
                f"{first_path} has the case_id {read.case.case_id!r} too. Ids are unique.",
            )


def _check_words(reads: Sequence[Sidecar]) -> None:
    """Subgoals should be about things that are there; the words for things are those of all
    inventories."""
    heads = {
        _stem(item.id.rpartition("_")[2])
        for read in reads
        if read.case
        for item in read.case.objects
    }
    object_words = heads | {_stem(name) for name in shapes()}
    for read in reads:
        if read.case:
            for number, text in _unknown(read.case, object_words):
                read.wrong(read.line("subgoals", number), text, "warning")


def _unknown(case: AvatarCase, object_words: set[str]) -> Iterator[tuple[int, str]]:
    inventory_words = {
        word for item in case.objects for word in _words(f"{item.id} {item.description}")
    }
    for number, goal in enumerate(case.subgoals):
        named = [word for word in _words(goal) if word in object_words]
        if absent := [word for word in named if word not in inventory_words]:
            yield number, f"This subgoal names {absent[0]!r}, which is not in the inventory."
        elif not set(_words(goal)) & inventory_words:
            yield number, "This subgoal names nothing that is in the inventory."


def _words(text: str) -> list[str]:
    return [_stem(word) for word in WORD.findall(text.lower().replace("_", " "))]


def _stem(word: str) -> str:
    """A word without the ending of a plural, so that `slices` is found by `slice`."""
    return word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word

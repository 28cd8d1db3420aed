"""A bundle of SC3's rollouts for a lab, with labels if it has some, and the addresses of its own
policies."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites import base_name, suite_named, suite_names
from evaluators.suites.sc3.own.bench import read_flag
from evaluators.suites.sc3.rollouts.trajectories import (
    CRITERIA,
    OutcomeAnnotation,
    from_bytes,
    to_bytes,
)
from evaluators.worlds.tabletop.cards import CARDS
from evaluators.worlds.wire.claims import OtherRolloutsHere, read_claim
from submissions.bundle.pack import pack_outputs

SUFFIX = ".npz"
MOST_POLICY = 999
"""A lab may have more policies than the suite."""


class CannotRollOut(ValueError):
    """Nothing can be rolled out or bundled as it was asked for; the message says why."""


def read_servers(arguments: list[str]) -> dict[int, str]:
    """From N=URL, as often as it was said.

    >>> read_servers(["3=ws://localhost:8000"])
    {3: 'ws://localhost:8000'}
    """
    servers: dict[int, str] = {}
    for argument in arguments:
        number, _, url = argument.partition("=")
        if not number.isdecimal() or not 1 <= int(number) <= MOST_POLICY or not _is_address(url):
            raise CannotRollOut(
                f"{argument!r} names no policy. Write the number whose place it takes, 1 to "
                f"{len(CARDS)} of the suite's own, "
                "and its address: 3=ws://localhost:8000."
            )
        servers[int(number)] = url
    return servers


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("ws", "wss") and bool(parts.hostname)


def pack(
    folder: Path, to: Path, declaration: Mapping[str, Any], labels: Path | None = None
) -> Path:
    """A bundle of the rollouts in a folder that belong to the declared subset, with the labels of a
    table inside them, if there is one."""
    notes = read_labels(labels) if labels else {}
    claim = _claim(folder)
    if not any(folder.glob(f"*{SUFFIX}")):
        raise CannotRollOut(f"{folder} holds no rollout. Make some with `armillary sc3 rollout`.")
    suite = suite_named(_suite_of(declaration))
    if claim.get("policy_servers") and suite.name == "sc3":
        raise CannotRollOut(
            f"{folder} holds rollouts of policies of your own. Hand in rollouts of the suite's "
            "seven."
        )
    in_subset = suite.subsets.get(declaration.get("subset", "full"))
    paths = [
        folder / f"{sample.id}{SUFFIX}"
        for sample in suite.samples()
        if in_subset is None or in_subset(sample)
    ]
    rollouts = {path.name.removesuffix(SUFFIX): path for path in paths if path.is_file()}
    if not rollouts:
        raise CannotRollOut(
            f"{folder} holds no rollout of that subset. Make some with `armillary sc3 rollout`."
        )
    whole = {"modalities": ["trajectory"], **declaration}
    if labels is None:
        return pack_outputs(to, whole, rollouts)
    with TemporaryDirectory() as place:
        return pack_outputs(to, whole, _labelled(rollouts, notes, Path(place)))


def _labelled(
    rollouts: Mapping[str, Path], notes: Mapping[str, tuple[OutcomeAnnotation, ...]], place: Path
) -> dict[str, Path]:
    """The same rollouts with what annotators say of them."""
    if unknown := sorted(set(notes) - set(rollouts)):
        raise CannotRollOut(f"The labels speak of {unknown[0]!r}, of which there is no rollout.")
    paths = {}
    for name, path in rollouts.items():
        rollout = replace(
            from_bytes(path.read_bytes(), None, None), annotations=notes.get(name, ())
        )
        paths[name] = place / path.name
        paths[name].write_bytes(to_bytes(rollout))
    return paths


def read_labels(table: Path) -> dict[str, tuple[OutcomeAnnotation, ...]]:
    """By sample what annotators say, from a CSV with sample, annotator, object and the three
    criteria."""
    notes: dict[str, tuple[OutcomeAnnotation, ...]] = {}
    columns = ("sample", "annotator", "object", *CRITERIA)
    with table.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if set(columns) - set(reader.fieldnames or ()):
            raise CannotRollOut(f"{table} needs the columns {', '.join(columns)}.")
        for number, row in enumerate(reader, 2):
            if missing := [name for name in columns if not row.get(name)]:
                raise CannotRollOut(
                    f"{table}, line {number}: {missing[0]} is empty. The columns are "
                    f"{', '.join(columns)}."
                )
            try:
                outcome = ObjectOutcome(*(read_flag(row[name]) for name in CRITERIA))
            except ValueError as error:
                raise CannotRollOut(f"{table}, line {number}: {error}.") from None
            note = OutcomeAnnotation(row["annotator"], row["object"], outcome)
            notes[row["sample"]] = (*notes.get(row["sample"], ()), note)
    return notes


def _suite_of(declaration: Mapping[str, Any]) -> str:
    """The suite that a manifest names, if it is SC3 or a bench under its rules."""
    name = str(declaration.get("suite", "sc3"))
    if name not in suite_names() or base_name(name) != "sc3":
        raise CannotRollOut(
            f"The manifest is for {name!r}. Write sc3, or the suite of a robot that is mounted."
        )
    return name


def _claim(folder: Path) -> Mapping[str, Any]:
    try:
        return read_claim(folder)
    except OtherRolloutsHere as error:
        raise CannotRollOut(str(error)) from None

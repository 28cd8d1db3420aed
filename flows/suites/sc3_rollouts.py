"""SC3's rollouts for a lab: policies inside a dynamics model's folder, kept as they are done, and a
bundle of them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from evaluators.contracts import Sample
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites import base_name, suite_named, suite_names
from evaluators.suites.sc3.own.bench import read_flag
from evaluators.suites.sc3.producing import BadFolder, open_folder
from evaluators.suites.sc3.rollouts.loops import OtherRollouts, WorldFailed, claim_of, roll_out_all
from evaluators.suites.sc3.rollouts.trajectories import (
    CRITERIA,
    OutcomeAnnotation,
    from_bytes,
    to_bytes,
)
from evaluators.suites.sc3.samples import episodes, policies, samples
from evaluators.worlds.actions import BadActions
from evaluators.worlds.policies.http import HttpPolicy, PolicyServerError
from evaluators.worlds.policies.policies import Policy, policy_of
from submissions.bundle.pack import pack_outputs

BROKEN = (OtherRollouts, WorldFailed, BadActions, PolicyServerError)
"""What may be wrong with a lab's model, rollouts or policy server; each says it in words."""

SUFFIX = ".npz"
MOST_POLICY = 999
"""A lab may have more policies than the suite."""


class CannotRollOut(ValueError):
    """Nothing can be rolled out or bundled as it was asked for; the message says why."""


@dataclass(frozen=True, slots=True)
class RolloutRequest:
    """What to roll out: a model's folder, where to, how many starts of each policy, and in which
    modes.

    `servers` are the addresses of policies that a lab serves itself, by the number whose place they
    take.
    """

    model: Path
    to: Path
    starts: int
    modes: tuple[str, ...]
    servers: Mapping[int, str]
    clips: bool

    def samples(self) -> list[Sample]:
        """The suite's samples that are wished for."""
        return [
            sample
            for sample in samples()
            if sample.facets.setting in self.modes and _place(sample) < self.starts
        ]

    def policies(self) -> dict[int, Policy]:
        """The seven policies, with the lab's own in their places."""
        by_number: dict[int, Policy] = policies()
        for number in self.servers:
            policy_of(by_number, number)
        return {**by_number, **{number: HttpPolicy(url) for number, url in self.servers.items()}}


def read_servers(arguments: list[str]) -> dict[int, str]:
    """From N=URL, as often as it was said.

    >>> read_servers(["3=http://localhost:8000"])
    {3: 'http://localhost:8000'}
    """
    servers: dict[int, str] = {}
    for argument in arguments:
        number, _, url = argument.partition("=")
        if not number.isdecimal() or not 1 <= int(number) <= MOST_POLICY or not _is_address(url):
            raise CannotRollOut(
                f"{argument!r} names no policy. Write the number whose place it takes, 1 to "
                f"{len(policies())} of the suite's own, "
                "and its address: 3=ws://localhost:8000."
            )
        servers[int(number)] = url
    return servers


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https", "ws", "wss") and bool(parts.hostname)


def roll_out(wish: RolloutRequest, on_progress: Callable[[int], None]) -> tuple[Path, ...]:
    """Roll out what is wished for and not there yet; `each` hears of so many more that are done."""
    if not wish.model.is_dir():
        raise CannotRollOut(
            f"There is no folder {wish.model}. Give the folder of a dynamics model."
        )
    try:
        world, config = open_folder(wish.model, wish.model.resolve().name)
        todo = episodes(wish.samples())
        return roll_out_all(world, wish.policies(), todo, config, wish.to, wish.clips, on_progress)
    except BadFolder as error:
        raise CannotRollOut(f"{wish.model}: {error}") from error
    except BROKEN as error:
        raise CannotRollOut(str(error)) from error


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
        return claim_of(folder)
    except OtherRollouts as error:
        raise CannotRollOut(str(error)) from None


def _place(sample: Sample) -> int:
    return int(sample.cluster.rpartition("-")[2])

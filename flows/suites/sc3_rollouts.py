"""SC3's rollouts for a lab: policies inside a dynamics model's folder, kept as they are done, and a
bundle of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evaluators.contracts import Sample
from evaluators.suites import suite_named
from evaluators.suites.sc3.producing import BadFolder, open_folder
from evaluators.suites.sc3.rollouts.loops import OtherRollouts, WorldFailed, claim_of, roll_out_all
from evaluators.suites.sc3.samples import episodes, policies, samples
from evaluators.worlds.bussing.bench import BadActions
from evaluators.worlds.policies.http import HttpPolicy, PolicyServerError
from evaluators.worlds.policies.policies import Policy, policy_of
from submissions.bundle.pack import pack_outputs

BROKEN = (OtherRollouts, WorldFailed, BadActions, PolicyServerError)
"""What may be wrong with a lab's model, rollouts or policy server; each says it in words."""

SUFFIX = ".npz"


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
        if (
            not number.isdecimal()
            or not 1 <= int(number) <= len(policies())
            or not _is_address(url)
        ):
            raise CannotRollOut(
                f"{argument!r} names no policy. Write the number whose place it takes, 1 to "
                f"{len(policies())}, "
                "and its address: 3=http://localhost:8000."
            )
        servers[int(number)] = url
    return servers


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


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


def pack(folder: Path, to: Path, declaration: Mapping[str, Any]) -> Path:
    """A bundle of the rollouts in a folder that belong to the declared subset."""
    if _claim(folder).get("policy_servers"):
        raise CannotRollOut(
            f"{folder} holds rollouts of policies of your own. Hand in rollouts of the suite's "
            "seven."
        )
    in_subset = suite_named("sc3").subsets.get(declaration.get("subset", "full"))
    paths = [
        folder / f"{sample.id}{SUFFIX}"
        for sample in samples()
        if in_subset is None or in_subset(sample)
    ]
    rollouts = {path.name.removesuffix(SUFFIX): path for path in paths if path.is_file()}
    if not rollouts:
        raise CannotRollOut(
            f"{folder} holds no rollout of that subset. Make some with `armillary sc3 rollout`."
        )
    return pack_outputs(to, {"modalities": ["trajectory"], **declaration}, rollouts)


def _claim(folder: Path) -> Mapping[str, Any]:
    try:
        return claim_of(folder)
    except OtherRollouts as error:
        raise CannotRollOut(str(error)) from None


def _place(sample: Sample) -> int:
    return int(sample.cluster.rpartition("-")[2])

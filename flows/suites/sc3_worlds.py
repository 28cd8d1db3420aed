"""Anybody's world model on a bench of SC3: a kit to learn from, rollouts inside it, and a policy of
ours for a lab's own loop."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from websockets.sync.server import Server

from evaluators.contracts import Sample
from evaluators.contracts.robot_policy import RobotPolicy
from evaluators.contracts.world_model import World, WorldFault
from evaluators.suites import base_name, suite_named
from evaluators.suites.banks import mounted_banks
from evaluators.suites.sc3.kit import KIT, PRACTICE, KitExists, KitPlan, write_kit
from evaluators.suites.sc3.own.bench import BadBench, open_bench
from evaluators.suites.sc3.producing import BadFolder, open_folder
from evaluators.suites.sc3.rollouts.bench import RolloutBench
from evaluators.suites.sc3.rollouts.driving import WorldBroke
from evaluators.suites.sc3.rollouts.kept import KeptRollouts, drive_all
from evaluators.suites.sc3.table_bench import BadSize, TableBench
from evaluators.worlds.lerobot.layout import BadDataset
from evaluators.worlds.lerobot.reading import open_dataset
from evaluators.worlds.tabletop.engine import NoSimulator
from evaluators.worlds.wire.claims import OtherRolloutsHere
from evaluators.worlds.wire.opening import open_world_at
from evaluators.worlds.wire.policy_client import OpenpiPolicy, PolicyServerFault
from evaluators.worlds.wire.policy_server import serve_openpi
from flows.suites.sc3_rollouts import CannotRollOut

LONGEST = 1000
BROKEN_BY_LAB = (
    WorldFault,
    WorldBroke,
    OtherRolloutsHere,
    PolicyServerFault,
    BadBench,
    BadDataset,
    BadFolder,
    BadSize,
    KitExists,
    NoSimulator,
)
"""What may be wrong with a lab's world, bench, rollouts or policy server; each says it in words."""


@dataclass(frozen=True, slots=True)
class CosmosTuning:
    """How to fine-tune Cosmos 3: how long, how many instances a step, how fast, and the LoRA's
    rank, 0 for all weights."""

    steps: int
    batch: int
    rate: float
    rank: int
    seed: int
    device: str


@dataclass(frozen=True, slots=True)
class WorldRollouts:
    """What to roll out: on which suite, in which world, where to, how many starts of each policy,
    and in which modes; `servers` are policies by the number whose place they take."""

    suite: str
    world: str
    device: str
    to: Path
    starts: int
    modes: tuple[str, ...]
    servers: Mapping[int, str]
    clips: bool

    def samples(self) -> list[Sample]:
        """The suite's samples that are asked for."""
        chosen: list[Sample] = []
        counted: dict[tuple[str, str], int] = {}
        for sample in suite_named(self.suite).samples():
            key = sample.facets.task, sample.facets.setting
            counted[key] = counted.get(key, 0) + 1
            if sample.facets.setting in self.modes and counted[key] <= self.starts:
                chosen.append(sample)
        return chosen


def check_world(where: str) -> None:
    """Whether a text can name a world: an address, a factory, or a folder that is there."""
    if len(where) > LONGEST:
        raise CannotRollOut(f"The name of a world has {len(where)} signs; it may have {LONGEST}.")
    factory = all(part.replace("_", "a").isalnum() for part in re.split(r"[.:]", where))
    if "://" in where:
        parts = urlsplit(where)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    else:
        folder = (Path(where) / "config.json").is_file() or is_cosmos(Path(where))
        sound = folder or (where.count(":") == 1 and factory)
    if not sound:
        raise CannotRollOut(
            f"{where!r} names no world. Write http://host:port, module:factory, or the folder of a "
            "model with its config.json."
        )


def roll_out_in(request: WorldRollouts, on_batch: Callable[[int], None]) -> tuple[Path, ...]:
    """Roll out what is not there yet; `on_batch` hears of so many more that are done."""
    try:
        world = open_world(request.world, request.device)
        return _drive(request, bench_of(request.suite), world, on_batch)
    except BROKEN_BY_LAB as error:
        raise CannotRollOut(str(error)) from error


def open_world(where: str, device: str) -> World:
    """The world at an address, of a factory, or in a folder: a video world model of ours or a
    Cosmos 3 pipeline."""
    if (Path(where) / "config.json").is_file():
        return open_folder(Path(where), device)
    if not is_cosmos(Path(where)):
        return open_world_at(where, device)
    from evaluators.models.cosmos.world import open_cosmos

    try:
        return open_cosmos(Path(where), device)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WorldFault(f"{where} cannot be opened as a Cosmos 3 pipeline: {error}") from error


def is_cosmos(folder: Path) -> bool:
    """Whether a folder says of itself that it is a Cosmos 3 pipeline, or a LoRA for one."""
    index = folder / "model_index.json"
    named = index.is_file() and b"Cosmos3OmniPipeline" in index.read_bytes()
    return named or (folder / "world.json").is_file()


def tune_cosmos(
    base: Path, kit: Path, to: Path, plan: CosmosTuning, on_step: Callable[[int, float], None]
) -> tuple[float, ...]:
    """Fine-tune the Cosmos 3 pipeline in a folder on a kit's practice; each process of one run on
    a card of its own."""
    from evaluators.models.adapt.checkpoint import AnotherRun
    from evaluators.models.adapt.processes import launched
    from evaluators.models.cosmos.embodiment import CosmosSettings
    from evaluators.models.cosmos.finetune import CosmosPlan, finetune
    from evaluators.models.cosmos.world import open_cosmos

    if not is_cosmos(base):
        raise CannotRollOut(f"{base} is no Cosmos 3 pipeline: its model_index.json has to say so.")
    try:
        card = json.loads((kit / KIT).read_text("utf-8"))
        dataset = open_dataset(kit / PRACTICE)
        height, width = card["size"]
        settings = CosmosSettings(tuple(card["views"]), height, width, card["rate"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotRollOut(f"{kit} is no kit with practice ({error}). Write one first.") from error
    wished = CosmosPlan(plan.steps, plan.batch, plan.rate, plan.steps // 10, plan.rank)
    pipeline = open_cosmos(base, launched().device(plan.device)).pipeline
    try:
        return finetune(pipeline, dataset, to, settings, replace(wished, seed=plan.seed), on_step)
    except AnotherRun as error:
        raise CannotRollOut(str(error)) from None


def make_kit(
    suite: str, to: Path, size: int | None, practice: int, on_part: Callable[[str], None]
) -> Path:
    """The kit of a suite, square pictures of that size or the bench's own."""
    try:
        bench = bench_of(suite)
        shape = bench.native if size is None else (size, size)
        found = suite_named(suite)
        plan = KitPlan(suite, found.title, found.samples(), shape, practice)
        return write_kit(to, bench, plan, on_part)
    except BROKEN_BY_LAB as error:
        raise CannotRollOut(str(error)) from error


def serve_policy(number: int, port: int) -> Server:
    """One of the suite's policies behind openpi's websocket, for a lab's own loop."""
    policies = TableBench().policies()
    if number not in policies:
        raise CannotRollOut(f"There is no policy {number}; there are 1 to {len(policies)}.")
    try:
        return serve_openpi(policies[number], {"suite": "sc3", "policy": number}, port)
    except OSError as error:
        raise CannotRollOut(f"Port {port} cannot be used ({error.strerror}).") from None


def bench_of(suite: str) -> RolloutBench:
    """The bench behind a suite: our table, or a lab's own."""
    if suite == "sc3":
        return TableBench()
    for card in mounted_banks():
        if card.suite_name == suite and base_name(suite) == "sc3":
            return open_bench(card.folder)
    raise BadBench(
        f"{suite!r} is no bench of a robot. Mount one: ARMILLARY_BANKS_PATH names its folder."
    )


def _drive(
    request: WorldRollouts,
    bench: RolloutBench,
    world: World,
    on_batch: Callable[[int], None],
) -> tuple[Path, ...]:
    size = world.card.height, world.card.width
    episodes = [
        bench.driven(sample.cluster, sample.facets.setting, size) for sample in request.samples()
    ]
    servers: dict[int, RobotPolicy] = {
        number: OpenpiPolicy(url) for number, url in request.servers.items()
    }
    lacking = {e.policy for e in episodes if e.recorded is None} - {*bench.policies(), *servers}
    if lacking:
        raise BadBench(
            f"Policy {min(lacking)} is not at hand. Serve it over openpi's websocket and name it: "
            f"--policy-url {min(lacking)}=ws://127.0.0.1:8000."
        )
    kept = KeptRollouts(
        request.to,
        request.suite,
        {**bench.policies(), **servers},
        bench.arm,
        bench.config,
        request.servers,
        request.clips,
    )
    return drive_all(world, episodes, kept, on_batch)

"""Everything a world model needs to learn on a bench and to be tried there, as files that anybody
can read: PNG, npy, JSON, and practice as a LeRobot data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluators.contracts import Json, Sample
from evaluators.media import write_png
from evaluators.suites.sc3.rollouts.bench import RolloutBench
from evaluators.worlds.lerobot.practice import write_contract, write_practice

KIT, STARTS, RECORDED, PRACTICE = "kit.json", "starts", "recorded", "practice"
README = """# A kit of {title}

- `kit.json`: every start with its policy, instruction and seed, and the samples that ask for it.
- `starts/<start>/<view>.png`: its first frames, {height} x {width}. A rollout begins
  with exactly these.
- `recorded/<start>.npy`: the actions to drive an offline rollout with, float32 [steps, numbers].
- `practice/`: {episodes} episodes to learn from, a LeRobot data set (v3), {rate:g} frames a
  second. The last row of an episode has a frame and no action of its own: zeros, `next.done`.
- `practice/meta/stats.json`: means and deviations of actions, for normalising them.
- `world_model.py`: what a world is asked and answers; needs numpy only.
- `example_world_server.py`: a world behind a URL in 60 lines; put your model into `forward`.

    python example_world_server.py 8000
    armillary sc3 rollout OUT --suite {suite} --world http://127.0.0.1:8000

Policies propose 25 actions, a world looks `chunk` of them ahead, {execute} are executed,
{limit} steps at most.
"""


class KitExists(ValueError):
    """The folder holds something already."""


@dataclass(frozen=True, slots=True)
class KitPlan:
    """What goes into a kit: a suite's name, title and samples, the size, how much practice."""

    suite: str
    title: str
    samples: Sequence[Sample]
    size: tuple[int, int]
    practice: int


def write_kit(
    folder: Path,
    bench: RolloutBench,
    plan: KitPlan,
    on_part: Callable[[str], None] = lambda _part: None,
) -> Path:
    """The whole kit; `kit.json` is written last, so that a kit with it is whole."""
    if (folder / KIT).exists():
        raise KitExists(f"{folder} holds a kit already. Write into another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    starts = [_write_start(folder, bench, plan, name, on_part) for name in _names(plan.samples)]
    count = _write_practice(folder, bench, plan, on_part)
    write_contract(folder)
    _write_words(folder, bench, plan, count)
    content = {
        "suite": plan.suite,
        "views": list(bench.views),
        "size": list(plan.size),
        "rate": bench.rate,
        "limit": bench.config.limit,
        "execute": bench.config.execute,
        "practice_episodes": count,
        "starts": starts,
    }
    (folder / KIT).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return folder


def _names(samples: Sequence[Sample]) -> list[str]:
    return list(dict.fromkeys(sample.cluster for sample in samples))


def _write_start(
    folder: Path, bench: RolloutBench, plan: KitPlan, name: str, on_part: Callable[[str], None]
) -> dict[str, Json]:
    """First frames and recorded actions of a start; nothing of how it really went."""
    wishes = [sample for sample in plan.samples if sample.cluster == name]
    offline = any(sample.facets.setting == "offline" for sample in wishes)
    episode = bench.driven(name, "offline" if offline else "online", plan.size)
    place = folder / STARTS / name
    place.mkdir(parents=True, exist_ok=True)
    for view, frame in zip(bench.views, episode.first, strict=True):
        write_png(frame, place / f"{view}.png")
    if episode.recorded is not None:
        (folder / RECORDED).mkdir(exist_ok=True)
        np.save(folder / RECORDED / f"{name}.npy", episode.recorded)
    on_part("starts")
    return {
        "start": name,
        "policy": episode.policy,
        "instruction": episode.instruction,
        "seed": str(episode.seed),
        "samples": [sample.id for sample in wishes],
    }


def _write_practice(
    folder: Path, bench: RolloutBench, plan: KitPlan, on_part: Callable[[str], None]
) -> int:
    """How many episodes there were to learn from."""
    recorded = bench.practice(plan.practice, plan.size)
    return write_practice(folder / PRACTICE, plan.suite, bench.rate, recorded, on_part)


def _write_words(folder: Path, bench: RolloutBench, plan: KitPlan, episodes: int) -> None:
    words = README.format(
        title=plan.title,
        suite=plan.suite,
        height=plan.size[0],
        width=plan.size[1],
        episodes=episodes,
        rate=bench.rate,
        execute=bench.config.execute,
        limit=bench.config.limit,
    )
    (folder / "README.md").write_text(words, "utf-8")

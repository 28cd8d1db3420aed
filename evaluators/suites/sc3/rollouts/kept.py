"""Many rollouts inside one world, each kept as it is done: killed, it goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evaluators.contracts.robot_policy import RobotPolicy
from evaluators.contracts.world_model import World
from evaluators.suites.sc3.rollouts.driving import (
    DriveConfig,
    DrivenEpisode,
    Proprioception,
    drive,
)
from evaluators.suites.sc3.rollouts.trajectories import gather, is_saved, save
from evaluators.worlds.wire.claims import claim_folder


@dataclass(frozen=True, slots=True)
class KeptRollouts:
    """Where rollouts go and what they are made with. `servers` are a lab's own policies by the
    number whose place they take: such rollouts are for its own eyes where the suite has policies.
    """

    folder: Path
    suite: str
    policies: Mapping[int, RobotPolicy]
    proprioception: Proprioception
    config: DriveConfig
    servers: Mapping[int, str] = field(default_factory=dict)
    clips: bool = True


def drive_all(
    world: World,
    episodes: Sequence[DrivenEpisode],
    kept: KeptRollouts,
    on_batch: Callable[[int], None] = lambda _count: None,
) -> tuple[Path, ...]:
    """All episodes in batches cut in the same places; run again, it makes what is missing.

    A batch of which something is missing is rolled out whole, since a network's last digits depend
    on what else is in the batch; only what is missing is written.
    """
    _claim(world, kept)
    views = world.card.views if kept.clips else ()
    for first in range(0, len(episodes), kept.config.batch):
        batch = episodes[first : first + kept.config.batch]
        missing = {name_of(e) for e in batch if not is_saved(name_of(e), kept.folder, views)}
        arguments = kept.policies, batch, kept.proprioception, kept.config
        for trajectory in drive(world, *arguments) if missing else ():
            if trajectory.id in missing:
                save(trajectory, kept.folder, views, world.card.rate)
        on_batch(len(batch))
    gather(kept.folder)
    return tuple(kept.folder / f"{name_of(episode)}.npz" for episode in episodes)


def name_of(episode: DrivenEpisode) -> str:
    """The name of an episode's rollout, which is that of its sample."""
    return f"{episode.id}.{episode.source}"


def _claim(world: World, kept: KeptRollouts) -> None:
    """A folder holds the rollouts of one world and its weights, of the same policies, with one set
    of settings."""
    claim_folder(
        kept.folder,
        {
            "suite": kept.suite,
            "evaluator": world.card.name,
            "card": asdict(world.card),
            "policy_servers": {str(number): url for number, url in kept.servers.items()},
            **asdict(kept.config),
        },
    )

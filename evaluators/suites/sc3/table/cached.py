"""Rollouts small enough to be shipped: their frames went through H.264 inside the loop, a chunk at
a time, so what is kept is to the pixel what the policies saw."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluators.contracts import Sample
from evaluators.contracts.world_model import ForwardRequest, Inpaint, Inverse, World, WorldCard
from evaluators.media import sha256_file
from evaluators.suites.sc3.producing import roll_out
from evaluators.suites.sc3.rollouts.stopping import cut
from evaluators.suites.sc3.rollouts.trajectories import Trajectory, describe, to_bytes
from evaluators.suites.sc3.samples import recording_of
from evaluators.suites.sc3.table.clips import pack_clip, unpack_clip
from evaluators.suites.sc3.table_bench import CONFIG
from evaluators.worlds.actions import ACTION_WIDTH, Actions
from evaluators.worlds.tabletop.views import Frames

Bytes = npt.NDArray[np.uint8]

QUALITY = 32
LAST = CONFIG.limit % CONFIG.execute
"""The last chunk of a whole rollout ends after so many steps of its clip."""

CACHE, WEIGHTS, CONFIG_FILE = "rollouts.npz", "model.safetensors", "config.json"


@dataclass
class PackedWorld:
    """A world whose frames go through H.264 before anybody sees them; it remembers the bytes."""

    world: World
    clips: dict[str, bytes] = field(default_factory=dict)

    @property
    def card(self) -> WorldCard:
        """That of the world."""
        return self.world.card

    @property
    def inverse(self) -> Inverse | None:
        """That of the world."""
        return self.world.inverse

    @property
    def inpaint(self) -> Inpaint | None:
        """That of the world."""
        return self.world.inpaint

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Frames]:
        """What the world shows, the steps that are executed packed and unpacked."""
        return [self._through(frames) for frames in self.world.forward(requests)]

    def _through(self, frames: Frames) -> Frames:
        clip = pack_clip(frames[:, : CONFIG.execute], QUALITY)
        shown = unpack_clip(clip)
        for kept in (shown, shown[:, :LAST]):
            self.clips[_digest(kept)] = clip
        return np.concatenate([shown, frames[:, CONFIG.execute :]], axis=1)


def cache_rollouts(world: World, samples: Sequence[Sample], folder: Path) -> Path:
    """Roll some samples out and keep them beside a model's weights, with their revision."""
    packed, arrays = PackedWorld(world), dict[str, Bytes]()
    for first in range(0, len(samples), CONFIG.batch):
        for rollout in roll_out(packed, samples[first : first + CONFIG.batch]):
            arrays |= _packed(rollout, packed)
    arrays["revision"] = np.frombuffer(world.card.revision.encode(), np.uint8)
    part = (folder / CACHE).with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    os.replace(part, folder / CACHE)
    return folder / CACHE


def cached_rollouts(folder: Path, samples: Sequence[Sample]) -> list[Trajectory]:
    """Those of the samples that are kept, if they were made by the weights that lie beside them;
    online they end where the tau of that folder stops them."""
    if not all((folder / name).is_file() for name in (CACHE, WEIGHTS, CONFIG_FILE)):
        return []
    revision = sha256_file(folder / WEIGHTS)[:16]
    with np.load(folder / CACHE, allow_pickle=False) as file:
        if file["revision"].tobytes().decode() != revision:
            return []
        rollouts = [_unpacked(file, sample) for sample in samples if f"{sample.id}.line" in file]
    tau = json.loads((folder / CONFIG_FILE).read_text("utf-8")).get("tau")
    return [
        cut(rollout, tau, CONFIG.execute) if rollout.source == "online" else rollout
        for rollout in rollouts
    ]


def write_cached(folder: Path, samples: Sequence[Sample], to: Path) -> Mapping[str, Path]:
    """The kept rollouts as files to be handed in, by sample."""
    files: dict[str, Path] = {}
    for rollout in cached_rollouts(folder, samples):
        files[rollout.id] = to / f"{rollout.id}.npz"
        files[rollout.id].write_bytes(to_bytes(rollout))
    return files


def _packed(rollout: Trajectory, world: PackedWorld) -> dict[str, Bytes]:
    chunks = range(0, rollout.steps, CONFIG.execute)
    films = [rollout.frames[:, n + 1 : n + 1 + CONFIG.execute] for n in chunks]
    clips = [world.clips[_digest(film)] for film in films]
    line = {
        **describe(rollout),
        "u_chunk": [float(value) for value in rollout.u_chunk],
        "action_scale": list(rollout.action_scale),
        "lengths": [len(clip) for clip in clips],
    }
    parts = {
        "line": json.dumps(line).encode(),
        "actions": rollout.actions.tobytes(),
        "recovered": rollout.recovered.tobytes(),
        "clips": b"".join(clips),
    }
    return {f"{rollout.id}.{name}": np.frombuffer(data, np.uint8) for name, data in parts.items()}


def _unpacked(file: Mapping[str, Bytes], sample: Sample) -> Trajectory:
    line = json.loads(file[f"{sample.id}.line"].tobytes())
    actions, recovered = (
        np.frombuffer(file[f"{sample.id}.{name}"].tobytes(), np.float32)
        for name in ("actions", "recovered")
    )
    recording, actions = recording_of(sample), actions.reshape(-1, ACTION_WIDTH)
    clips, films = file[f"{sample.id}.clips"].tobytes(), [recording.first[:, None]]
    for length in line["lengths"]:
        films.append(unpack_clip(clips[:length]))
        clips = clips[length:]
    return Trajectory(
        start=recording.start.id,
        policy=recording.policy,
        source="offline" if sample.facets.setting == "offline" else "online",
        evaluator=line["evaluator"],
        frames=np.concatenate(films, axis=1)[:, : len(actions) + 1],
        actions=actions,
        recovered=_chunks(recovered, len(line["u_chunk"])),
        u_chunk=np.array(line["u_chunk"], np.float32),
        action_space=line["action_space"],
        terminated_at=line["terminated_at"],
        tau=line["tau"],
        action_scale=tuple(line["action_scale"]),
    )


def _chunks(recovered: Actions, count: int) -> Actions:
    longest = len(recovered) // (count * ACTION_WIDTH) if count else 0
    return recovered.reshape(count, longest, ACTION_WIDTH)


def _digest(frames: Frames) -> str:
    return sha256(np.ascontiguousarray(frames).tobytes()).hexdigest()

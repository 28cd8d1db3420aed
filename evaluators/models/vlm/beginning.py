"""Where the small reader's weights begin: not at random, but with the means to compare frames.

A transformer of a million parameters does not find motion by itself in minutes: which way a patch
went is a product of two frames, and of all products few are of use. So three things are set before
the first lesson. The tower begins as a cosine transform of each patch. Two heads of the decoder's
first layer look at the same place one frame earlier. Its gated units begin as products of
neighbouring frequencies, now and then, whose sums grow with the shift between the frames: the
gradient rule of optical flow. The course holds all of it still while the layers behind it learn to
read it: at the rate that they need, it would be wiped out first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FREQUENCIES = 6
"""Low frequencies each way that motion is read from; without the mean that is 35 numbers."""
COMPARED = FREQUENCIES**2 - 1
CHROMA = 3
"""Frequencies each way of the two colour differences."""
COLOURS = np.array([[0.577, 0.577, 0.577], [0.707, -0.707, 0.0], [0.408, 0.408, -0.816]])
CONTRAST, MEAN = 0.5, 0.04
"""How much a frequency and the mean of a patch weigh beside the place of the patch."""
PHASES, PEAK = 5, 1.4
"""Rotary frequencies that a look back is tuned with, and how sharp it is."""
PAIRS = 15
"""Pairs of directions that are compared each way."""
QUIET = 0.1
"""What is left of random weights where something was set."""

SET = ("model.vision_tower.", "model.multi_modal_projector.", "model.language_model.layers.0.")
"""Where weights were set, by the beginning of their names."""


@dataclass(frozen=True, slots=True)
class Places:
    """Which numbers of the decoder's width hold what."""

    width: int

    @property
    def now(self) -> slice:
        """The frequencies of the patch."""
        return slice(0, COMPARED)

    @property
    def before(self) -> slice:
        """Those of the same place one frame earlier."""
        return slice(COMPARED, 2 * COMPARED)

    @property
    def moved(self) -> int:
        """The first of the numbers that say how the patch moved."""
        return self.width - 12

    @property
    def constant(self) -> int:
        """A number that is the same for every visual token."""
        return self.width - 1


def begin(model: Any) -> None:
    """Set what the course begins with, in a PaliGemma fresh from its config."""
    vision, text = model.config.vision_config, model.config.text_config
    tokens = (vision.image_size // vision.patch_size) ** 2
    places = Places(text.hidden_size)
    with torch.no_grad():
        _begin_tower(model.model.vision_tower, vision)
        _begin_projector(model.model.multi_modal_projector.linear, places)
        first = model.get_decoder().layers[0]
        for head in (0, 1):
            _look_back(first.self_attn, head, text.head_dim, tokens, places)
        _carry(first.self_attn, text.head_dim, places)
        _compare(first.mlp, vision.patch_size, places)


def cosines(patch: int, count: int) -> tuple[list[tuple[int, int]], Floats]:
    """The frequencies of a patch, low ones first, as pairs (down, across) and as unit pictures."""
    steps = np.arange(patch) + 0.5
    low = [(i, j) for i in range(FREQUENCIES) for j in range(FREQUENCIES)]
    high = [(i, j) for i in range(patch) for j in range(patch) if max(i, j) >= FREQUENCIES]
    ordered = [*low[1:], *sorted(high, key=lambda pair: (max(pair), sum(pair)))][:count]
    waves = np.cos(np.pi * np.arange(patch)[:, None] * steps[None] / patch)
    pictures = np.stack([np.outer(waves[i], waves[j]) for i, j in ordered])
    return ordered, pictures / np.linalg.norm(pictures, axis=(1, 2), keepdims=True)


def turning(patch: int, across: bool) -> Floats:
    """How a small shift turns the low frequencies into each other: the antisymmetric part of the
    derivative, [now, before]."""
    ordered, pictures = cosines(patch, COMPARED)
    steps = np.arange(patch) + 0.5
    slopes = []
    for (i, j), picture in zip(ordered, pictures, strict=True):
        number = j if across else i
        wave, slope = (
            np.cos(np.pi * number * steps / patch),
            -np.pi * number / patch * np.sin(np.pi * number * steps / patch),
        )
        ratio = np.divide(slope, wave, out=np.zeros(patch), where=np.abs(wave) > 1e-9)
        slopes.append(picture * (ratio[None] if across else ratio[:, None]))
    derivative = np.einsum("khw,lhw->kl", pictures, np.stack(slopes))
    return np.asarray(derivative - derivative.T)


def _begin_tower(tower: Any, vision: Any) -> None:
    """Patches as cosine transforms; layers add nothing at first."""
    body = getattr(tower, "vision_model", tower)
    embedding = body.embeddings.patch_embedding.weight
    width, patch = vision.hidden_size, vision.patch_size
    colours = CHROMA**2
    _, light = cosines(patch, width - 2 * colours - 1)
    mean = np.full((1, patch, patch), MEAN / patch)
    low = [np.outer(a, b) for a in _waves(patch, CHROMA) for b in _waves(patch, CHROMA)]
    rows = [
        *(np.einsum("c,hw->chw", COLOURS[0], picture) for picture in (*light, *mean)),
        *(np.einsum("c,hw->chw", axis, picture) for axis in COLOURS[1:] for picture in low),
    ]
    embedding.copy_(torch.tensor(np.stack(rows) * CONTRAST, dtype=embedding.dtype))
    body.embeddings.position_embedding.weight[:, :COMPARED] = 0
    for layer in body.encoder.layers:
        layer.self_attn.out_proj.weight.mul_(QUIET)
        layer.mlp.fc2.weight.mul_(QUIET)


def _waves(patch: int, count: int) -> list[Floats]:
    steps = np.arange(patch) + 0.5
    waves = [np.cos(np.pi * number * steps / patch) for number in range(count)]
    return [wave / np.linalg.norm(wave) for wave in waves]


def _begin_projector(projector: Any, places: Places) -> None:
    """The compared frequencies keep their places; others are mixed into what is left."""
    weight, bias = projector.weight, projector.bias
    weight[: 2 * COMPARED] = 0
    weight[places.now, :COMPARED] = torch.eye(COMPARED)
    weight[places.moved :] = 0
    weight[2 * COMPARED : places.moved, :COMPARED] *= QUIET
    bias.zero_()
    bias[places.constant] = 3.0


def _look_back(attention: Any, head: int, size: int, tokens: int, places: Places) -> None:
    """Tune a head to the token that stands one frame earlier, by the phases of its positions."""
    half = size // 2
    query, key = (
        matrix.weight[head * size : (head + 1) * size]
        for matrix in (attention.q_proj, attention.k_proj)
    )
    speeds = 10000.0 ** (-np.arange(0, size, 2) / size)
    tuned = torch.tensor((np.arange(half) < PHASES) * PEAK, dtype=query.dtype)
    angles = torch.tensor(-tokens * speeds, dtype=query.dtype)
    query.mul_(QUIET / 2)
    key.mul_(QUIET / 2)
    query[:half, places.constant] = tuned * angles.cos()
    query[half:, places.constant] = tuned * angles.sin()
    key[:half, places.constant] = tuned
    key[half:, places.constant] = 0


def _carry(attention: Any, size: int, places: Places) -> None:
    """What the looks back bring: the frequencies of the earlier frame, beside the present ones."""
    values, output = attention.v_proj.weight, attention.o_proj.weight
    output.mul_(QUIET)
    values[:COMPARED] = 0
    values[:COMPARED, places.now] = torch.eye(COMPARED)
    output[places.before] = 0
    output[places.before, :COMPARED] = torch.eye(COMPARED)
    assert 2 * size >= COMPARED


def _compare(mlp: Any, patch: int, places: Places) -> None:
    """Products of now and before, as pairs of gated units: gelu(a) b - gelu(-a) b is a b."""
    gate, up, down = (matrix.weight for matrix in (mlp.gate_proj, mlp.up_proj, mlp.down_proj))
    down.mul_(QUIET / 2)
    unit = 0
    for axis, across in enumerate((True, False)):
        left, sizes, right = np.linalg.svd(turning(patch, across))
        for pair in range(2 * PAIRS):
            share = float(sizes[pair])
            target = places.moved + 3 * axis + min(2, 3 * pair // (2 * PAIRS))
            rows = left[:, pair], right[pair]
            unit = _product(gate, up, down, unit, rows, target, share, places)
    for frequency in range(0, COMPARED, 3):
        rows = np.eye(COMPARED)[frequency], np.eye(COMPARED)[frequency]
        unit = _product(gate, up, down, unit, rows, places.moved + 6, 0.3, places)


def _product(
    gate: Any, up: Any, down: Any, unit: int, rows: tuple[Floats, Floats], target: int,
    share: float, places: Places,
) -> int:  # fmt: skip
    """Two gated units that multiply a reading of now with one of before; the next free unit."""
    now, before = (torch.tensor(row, dtype=gate.dtype) for row in rows)
    for sign in (1.0, -1.0):
        for matrix, row, where in ((gate, sign * now, places.now), (up, before, places.before)):
            matrix[unit] = 0
            matrix[unit, where] = row
        down[:, unit] = 0
        down[target, unit] = sign * share
        unit += 1
    return unit

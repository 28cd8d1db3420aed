"""LPIPS and film features on small random weights: what holds whatever the weights are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from evaluators.models.fidelity.film import open_film_features
from evaluators.models.fidelity.perceptual import (
    BACKBONES,
    BadWeights,
    load_lpips,
    open_lpips,
)
from tests.models.fidelity_weights import write_film, write_lpips

DICE = np.random.default_rng(0)
FILM = np.kron(DICE.integers(0, 256, (4, 8, 8, 3)), np.ones((1, 8, 8, 1))).astype(np.uint8)


def noisy(film: np.ndarray, levels: int) -> np.ndarray:
    noise = np.random.default_rng(1).normal(0, levels, film.shape)
    return (film + noise).round().clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_same_pictures_are_not_apart_and_noise_takes_them_further(
    tmp_path: Path, backbone: str
) -> None:
    apart = open_lpips(write_lpips(tmp_path, backbone))

    values = [apart(FILM, noisy(FILM, levels)) for levels in (0, 10, 30, 90)]

    assert values[0] == 0.0 and values == sorted(values) and values[-1] > 4 * values[1]
    assert apart(noisy(FILM, 30), FILM) == pytest.approx(values[2])


def test_lpips_is_the_sum_of_the_weighted_distances_of_unit_features(tmp_path: Path) -> None:
    network = load_lpips(write_lpips(tmp_path, "alex"))
    real, other = (torch.randn(2, 3, 64, 64).clamp(-1, 1) for _ in range(2))

    with torch.no_grad():
        expected = torch.zeros(2)
        taps = zip(network.heads, network._taps(real), network._taps(other), strict=True)
        for head, a, b in taps:
            assert torch.allclose(a.norm(dim=1).max(), torch.ones(()), atol=1e-4)
            per_place = torch.einsum("nchw,c->nhw", (a - b) ** 2, head)
            expected += per_place.flatten(1).mean(1)

        assert torch.allclose(network(real, other), expected, atol=1e-6)


def test_the_layers_are_those_of_the_published_classifiers() -> None:
    alex, vgg = (
        {f"features.{layer.number}.weight" for layer in BACKBONES[name]} for name in ("alex", "vgg")
    )

    assert alex == {f"features.{number}.weight" for number in (0, 3, 6, 8, 10)}
    numbers = (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)
    assert vgg == {f"features.{number}.weight" for number in numbers}
    assert [layer.number for layer in BACKBONES["vgg"] if layer.is_compared] == [2, 7, 14, 21, 28]


def test_a_folder_that_lacks_weights_says_which(tmp_path: Path) -> None:
    folder = write_lpips(tmp_path, "alex")
    tensors = load_file(folder / "model.safetensors")
    del tensors["lin2.model.1.weight"]
    save_file(tensors, folder / "model.safetensors")

    with pytest.raises(BadWeights, match="lacks heads.2"):
        load_lpips(folder)
    (folder / "config.json").write_text(json.dumps({"backbone": "squeeze"}))
    with pytest.raises(BadWeights, match="'squeeze'"):
        load_lpips(folder)


def test_film_features_tell_films_apart_and_hang_on_the_order_of_frames(tmp_path: Path) -> None:
    features = open_film_features(write_film(tmp_path))

    same, again, turned = features(np.stack([FILM, FILM, FILM[::-1]]))

    assert same.shape == (16,) and np.array_equal(same, again)
    assert np.abs(same - turned).max() > 1e-4

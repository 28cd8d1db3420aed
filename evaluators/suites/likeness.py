"""How like the real film a rollout looks to networks whose weights an operator gives: LPIPS, and
the features of films from which FVD is taken."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluators.contracts import Json
from evaluators.media import sha256_file
from evaluators.metrics.image import frechet

FOLDER = "ARMILLARY_FIDELITY"
"""Names a folder with `lpips/`, `film/` or both, each a config.json and a model.safetensors."""

LPIPS, FILM, FILMS = "lpips", "film", "films"
NO_WEIGHTS = (
    f"needs weights that are not shipped: name a folder of them in {FOLDER} when rollouts are read"
)
Features = npt.NDArray[np.float32]
Frames = npt.NDArray[np.uint8]


class BadFidelity(RuntimeError):
    """The operator's folder cannot be used, which is no fault of a rollout."""


def fidelity(*, real: Frames, generated: Frames) -> dict[str, Json]:
    """What can be said of films [views, frames, height, width, RGB] with the weights that are
    there; nothing where no folder is named."""
    named = os.environ.get(FOLDER, "")
    if not named:
        return {}
    folder, values = Path(named), dict[str, Json]()
    if not any((folder / part).is_dir() for part in (LPIPS, FILM)):
        raise BadFidelity(f"{FOLDER} names {folder.name}, which has neither {LPIPS}/ nor {FILM}/.")
    if (folder / LPIPS).is_dir():
        flat = (film.reshape(-1, *film.shape[2:]) for film in (real, generated))
        values |= {LPIPS: _lpips(folder / LPIPS)(*flat), "lpips_by": _revision(folder / LPIPS)}
    if (folder / FILM).is_dir():
        features = _features(folder / FILM)
        shown = {"real": _text(features(real)), "generated": _text(features(generated))}
        values[FILMS] = {**shown, "by": _revision(folder / FILM)}
    return values


def fvd(films: Sequence[Mapping[str, Json]]) -> float | None:
    """FVD of rollouts by their stored features, every view a film; None where they come from
    several networks or there are fewer than two films."""
    if len({film.get("by") for film in films}) != 1:
        return None
    sides = (
        np.concatenate([_rows(str(film[side])) for film in films]) for side in ("real", "generated")
    )
    real, generated = sides
    return frechet(real=real, generated=generated)


def film_distance(film: Mapping[str, Json]) -> float:
    """How far the films of one rollout are from the real ones: the squared distance of their mean
    features, which is FVD where there is a single film on either side."""
    real, generated = (_rows(str(film[side])).mean(0) for side in ("real", "generated"))
    return float(np.square(real - generated).sum())


@cache
def _lpips(folder: Path) -> Callable[[Frames, Frames], float]:
    from evaluators.models.fidelity.perceptual import open_lpips

    with _weights(folder):
        return open_lpips(folder)


@cache
def _features(folder: Path) -> Callable[[Frames], Features]:
    from evaluators.models.fidelity.film import open_film_features

    with _weights(folder):
        return open_film_features(folder)


@contextmanager
def _weights(folder: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # json, safetensors and transformers each say what is off
        raise BadFidelity(f"The weights in {folder.name}/ cannot be opened: {error}") from error


@cache
def _revision(folder: Path) -> str:
    return sha256_file(folder / "model.safetensors")[:12]


def _text(features: Features) -> str:
    """Rows as text: how many, and their bytes."""
    return f"{len(features)}:{b64encode(features.astype('<f4').tobytes()).decode()}"


def _rows(text: str) -> Features:
    count, _, stored = text.partition(":")
    return np.frombuffer(b64decode(stored), "<f4").reshape(int(count), -1)

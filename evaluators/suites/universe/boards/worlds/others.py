"""Numbers of rollouts that people's marks are held against, as in the paper's last table: PSNR,
SSIM, LPIPS and the distances between features of films."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evaluators.contracts import Json, OtherMetric, OtherMetrics, Output, Published
from evaluators.suites.likeness import FILMS, LPIPS, NO_WEIGHTS, film_distance, fvd
from evaluators.suites.universe.published import published

PRINTED = "pearson_fvd"


def _value(name: str) -> Callable[[Output], float | None]:
    def read(output: Output) -> float | None:
        value = _found(output).get(name)
        return None if value is None else float(str(value))

    return read


def _film(output: Output) -> float | None:
    """What FVD is for a single rollout: how far its features are from those of what follows."""
    film = _found(output).get(FILMS)
    return film_distance(film) if isinstance(film, dict) else None


def _fvd(outputs: Sequence[Output]) -> float | None:
    """None where a rollout was read without the weights: whoever is left out could steer it."""
    films = [film for output in outputs if isinstance(film := _found(output).get(FILMS), dict)]
    return fvd(films) if len(films) == len(outputs) else None


def _lpips_by(output: Output) -> str:
    return str(_found(output).get("lpips_by"))


def _film_by(output: Output) -> str:
    film = _found(output).get(FILMS)
    return str(film.get("by")) if isinstance(film, dict) else ""


def _found(output: Output) -> Mapping[str, Json]:
    found = output.record.get("value")
    return found if isinstance(found, dict) else {}


def _printed() -> tuple[Published, ...]:
    return tuple(figure for figure in published() if figure.metric == PRINTED)


OTHERS = OtherMetrics(
    (
        OtherMetric("psnr", "PSNR", "higher", _value("psnr")),
        OtherMetric("gain", "PSNR above a frozen frame", "higher", _value("gain")),
        OtherMetric("ssim", "SSIM", "higher", _value("ssim")),
        OtherMetric("lpips", "LPIPS", "lower", _value(LPIPS), weights=_lpips_by, absent=NO_WEIGHTS),
        OtherMetric("fvd", "FVD", "lower", _film, _fvd, _film_by, NO_WEIGHTS),
    ),
    _printed,
)
"""FVD of a single rollout is the squared distance of its features; that of an entry is taken over
all its rated rollouts."""

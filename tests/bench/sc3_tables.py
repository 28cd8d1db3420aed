"""The paper's Tables 1, 2, 4, 5 and 6 in the numbers of the simulated bench, and what belongs
beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.table import Table

from evaluators.metrics.outcomes import Category

SPLITS = ("in_distribution", "out_of_distribution", "pooled")
SHORT = {"in_distribution": "InD", "out_of_distribution": "OOD", "pooled": "all"}
MODES = ("offline", "online")
AGREEMENT = {"pearson_r": "r", "mmrv": "MMRV"}


@dataclass(frozen=True, slots=True)
class Line:
    """One evaluator in one mode over one split."""

    evaluator: str
    seed: int
    mode: str
    split: str
    pearson_r: float | None
    mmrv: float | None
    pearson_r_within: float | None
    reproduction: float | None
    rate_error: float | None
    categories: Mapping[str, float | None]
    psnr: float | None = None
    stopped: float | None = None
    mean_u: float | None = None
    tau: float | None = None


def tables(found: Sequence[Line]) -> Iterator[Table]:
    """All of them: mean over seeds, the least and the greatest in brackets."""
    yield _correlations(found)
    yield _ablations(found)
    yield _beside(found)
    yield _pictures(found)
    yield _sweep(found)
    yield _outcomes(found)


def _correlations(found: Sequence[Line]) -> Table:
    """Table 1."""
    columns = [
        (split, mode, metric) for split in SPLITS[:2] for mode in MODES for metric in AGREEMENT
    ]
    table = Table("evaluator", *(f"{SHORT[s]} {m} {AGREEMENT[x]}" for s, m, x in columns))
    table.title = "Table 1: correlation of predicted and real success rates (simulated bench)"
    for name in _names(found, _is_itself):
        table.add_row(name, *(_spread(_values(found, name, m, s, x)) for s, m, x in columns))
    return table


def _ablations(found: Sequence[Line]) -> Table:
    """Table 2."""
    table = Table(
        "variant, online, all 21 points", "r", "MMRV", "r within criterion", "reproduction", "tau"
    )
    table.title = (
        "Table 2: ablations, each with its own tau where it has a U; never and by chance beside "
        "them"
    )
    for name in _names(found, lambda name: _is_learned(name) and not _is_sweep(name)):
        metrics = ("pearson_r", "mmrv", "pearson_r_within", "reproduction", "tau")
        table.add_row(
            name, *(_spread(_values(found, name, "online", "pooled", metric)) for metric in metrics)
        )
    return table


def _beside(found: Sequence[Line]) -> Table:
    """What a pooled r alone would hide."""
    metrics = (
        "pearson_r",
        "pearson_r_within",
        "mmrv",
        "reproduction",
        "rate_error",
        "stopped",
        "mean_u",
    )
    heads = ("r", "r within", "MMRV", "reproduction", "error of rates", "stopped", "mean U")
    table = Table(
        "evaluator, all points",
        "mode",
        *heads,
        title="Beside Table 1: what a pooled r alone would hide",
    )
    for name in _names(found, _is_itself):
        for mode in MODES:
            if any(_values(found, name, mode, "pooled", metric) for metric in metrics):
                table.add_row(
                    name,
                    mode,
                    *(_spread(_values(found, name, mode, "pooled", metric)) for metric in metrics),
                )
    return table


def _pictures(found: Sequence[Line]) -> Table:
    """Table 4."""
    table = Table("evaluator, offline", "InD dB", "OOD dB", title="Table 4: PSNR")
    for name in _names(found, lambda name: bool(_values(found, name, "offline", "pooled", "psnr"))):
        table.add_row(
            name,
            *(_spread(_values(found, name, "offline", split, "psnr"), 2) for split in SPLITS[:2]),
        )
    return table


def _sweep(found: Sequence[Line]) -> Table:
    """Table 5, each threshold with the same number of stops by chance under it."""
    columns = [(split, metric) for split in SPLITS[:2] for metric in AGREEMENT]
    heads = [f"{SHORT[s]} {AGREEMENT[x]}" for s, x in columns]
    table = Table(
        "the full model, online", "tau", "stopped", *heads, title="Table 5: early termination"
    )
    for name in _names(found, lambda name: name == "full, never stopped" or _is_sweep(name)):
        tau = (
            "inf"
            if name == "full, never stopped"
            else _spread(_values(found, name, "online", "pooled", "tau"))
        )
        stopped = _spread(_values(found, name, "online", "pooled", "stopped"))
        table.add_row(
            name, tau, stopped, *(_spread(_values(found, name, "online", s, x)) for s, x in columns)
        )
    return table


def _outcomes(found: Sequence[Line]) -> Table:
    """Table 6."""
    table = Table(
        "evaluator, all policies", "mode", *(str(c).replace("_", " ") for c in Category), "average"
    )
    table.title = "Table 6: outcomes reproduced"
    for name in _names(found, _is_itself):
        for mode in MODES:
            same = _lines(found, name, mode, "pooled")
            if same:
                rates = [
                    _spread([line.categories[category] for line in same]) for category in Category
                ]
                table.add_row(name, mode, *rates, _spread([line.reproduction for line in same]))
    return table


def _names(found: Sequence[Line], keep: Callable[[str], bool]) -> Iterable[str]:
    return [name for name in dict.fromkeys(line.evaluator for line in found) if keep(name)]


def _is_sweep(name: str) -> bool:
    return "quantile of U" in name or "as many by chance" in name


def _is_itself(name: str) -> bool:
    """Neither a threshold of the sweep nor another way to stop the same model."""
    return not _is_sweep(name) and not name.endswith(("never stopped", "stopped by chance"))


def _is_learned(name: str) -> bool:
    return name.startswith(("full", "without", "forward only"))


def _lines(found: Sequence[Line], name: str, mode: str, split: str) -> list[Line]:
    return [
        line for line in found if (line.evaluator, line.mode, line.split) == (name, mode, split)
    ]


def _values(found: Sequence[Line], name: str, mode: str, split: str, metric: str) -> list[float]:
    return [
        v for line in _lines(found, name, mode, split) if (v := getattr(line, metric)) is not None
    ]


def _spread(values: Sequence[float | None], digits: int = 3) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "—"
    ends = f" [{min(known):.{digits}f}, {max(known):.{digits}f}]" if max(known) > min(known) else ""
    return f"{fmean(known):.{digits}f}{ends}"

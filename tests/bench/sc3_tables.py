"""The paper's Tables 1, 2, 4, 5 and 6 in the numbers of the simulated table, and what belongs
beside them; of a mode that was not learned nothing is printed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from rich.table import Table

from evaluators.metrics.outcomes import Category
from tests.bench.sc3_lines import SPLITS, Line
from tests.bench.sc3_models import FULL, VARIANTS

SHORT = {"in_distribution": "InD", "out_of_distribution": "OOD", "pooled": "all"}
MODES = ("offline", "online")
AGREEMENT = {"pearson_r": "r", "mmrv": "MMRV"}
NEVER, CHANCE = ", never stopped", ", stopped by chance"
SWEPT = "quantile of U"
SWEPT_CHANCE = "as many by chance"
LEARNED = tuple(variant.name for variant in VARIANTS)


def tables(lines: Sequence[Line], proven: Collection[str]) -> Iterator[Table]:
    """Those that the gates allow: mean over seeds, in brackets what drawing starts again gives,
    then the seeds' own range, or how many of them have a number at all."""
    shown = [line for line in lines if _may_be_shown(line, proven)]
    if "inverse" not in proven:
        shown = [replace(line, values={**line.values, "mean_u": None}) for line in shown]
    yield _correlations(shown)
    yield _ablations(shown)
    yield _beside(shown)
    yield _pictures(shown)
    if "inverse" in proven:
        yield _sweep(shown)
    yield _outcomes(shown)


def refused(proven: Collection[str]) -> list[str]:
    """What is not printed, and why, in words."""
    lost = {
        "forward": "anything of the learned model: several sampling steps are as one",
        "inverse": "early termination (Table 5) and what the inverse brings: the inverse gates "
        "are not passed",
        "cross_view": "what the cross-view mode brings: its gate is not passed",
    }
    return [f"Not printed: {words}." for mode, words in lost.items() if mode not in proven]


def _may_be_shown(line: Line, proven: Collection[str]) -> bool:
    """A variant's row speaks of the mode it lacks, one that U stops of the inverse; offline nothing
    stops."""
    name, base = line.evaluator, line.evaluator.split(",")[0]
    if base not in LEARNED:
        return True
    if name.endswith(NEVER) or line.mode == "offline":
        return "forward" in proven
    variant = next(variant for variant in VARIANTS if variant.name == base)
    needed = {"forward", variant.about, *({"inverse"} & set(variant.modes))}
    return needed <= set(proven)


def _correlations(lines: Sequence[Line]) -> Table:
    """Table 1."""
    columns = [(s, mode, metric) for s in SPLITS[:2] for mode in MODES for metric in AGREEMENT]
    table = Table("evaluator", *(f"{SHORT[s]} {m} {AGREEMENT[x]}" for s, m, x in columns))
    table.title = "Table 1: correlation of predicted and real success rates (simulated table)"
    for name in _names(lines, _is_itself):
        table.add_row(name, *(_cell(lines, name, m, s, x) for s, m, x in columns))
    return table


def _ablations(lines: Sequence[Line]) -> Table:
    """Table 2."""
    lines = [line for line in lines if line.mode == "online"]
    metrics = ("pearson_r", "mmrv", "pearson_r_within", "reproduction", "tau")
    heads = ("r", "MMRV", "r within criterion", "reproduction", "tau")
    table = Table("variant, online, all 21 points", *heads)
    table.title = "Table 2: ablations; never stopped and stopped by chance beside those with a U"
    for name in _names(lines, lambda name: _is_learned(name) and not _is_swept(name)):
        table.add_row(name, *(_cell(lines, name, "online", "pooled", x) for x in metrics))
    return table


def _beside(lines: Sequence[Line]) -> Table:
    """What a pooled r alone would hide."""
    metrics = ("pearson_r", "pearson_r_within", "mmrv", "reproduction", "rate_error")
    heads = ("r", "r within", "MMRV", "reproduction", "error of rates", "stopped", "mean U")
    table = Table("evaluator, all points", "mode", *heads)
    table.title = "Beside Table 1: what a pooled r alone would hide"
    for name in _names(lines, lambda name: not _is_swept(name)):
        for mode in MODES:
            if _chosen(lines, name, mode, "pooled"):
                cells = (*metrics, "stopped", "mean_u")
                table.add_row(name, mode, *(_cell(lines, name, mode, "pooled", x) for x in cells))
    return table


def _pictures(lines: Sequence[Line]) -> Table:
    """Table 4."""
    table = Table("evaluator, offline", "InD dB", "OOD dB", title="Table 4: PSNR")
    for name in _names(lines, lambda _name: True):
        cells = [_cell(lines, name, "offline", split, "psnr", 2) for split in SPLITS[:2]]
        if cells[0] != "—":
            table.add_row(name, *cells)
    return table


def _sweep(lines: Sequence[Line]) -> Table:
    """Table 5, each threshold with the same number of stops by chance under it."""
    columns = [(split, metric) for split in SPLITS[:2] for metric in AGREEMENT]
    heads = [f"{SHORT[s]} {AGREEMENT[x]}" for s, x in columns]
    table = Table("the full model, online", "tau", "stopped", *heads)
    table.title = "Table 5: early termination"
    for name in _names(lines, lambda name: name == FULL.name + NEVER or _is_swept(name)):
        tau = "inf" if name.endswith(NEVER) else _cell(lines, name, "online", "pooled", "tau")
        cells = [_cell(lines, name, "online", s, x) for s, x in columns]
        table.add_row(name, tau, _cell(lines, name, "online", "pooled", "stopped"), *cells)
    return table


def _outcomes(lines: Sequence[Line]) -> Table:
    """Table 6."""
    heads = [str(category).replace("_", " ") for category in Category]
    table = Table("evaluator, all policies", "mode", *heads, "average")
    table.title = "Table 6: outcomes reproduced"
    for name in _names(lines, lambda name: not _is_swept(name)):
        for mode in MODES:
            if _chosen(lines, name, mode, "pooled"):
                metrics = (*(str(category) for category in Category), "reproduction")
                table.add_row(name, mode, *(_cell(lines, name, mode, "pooled", x) for x in metrics))
    return table


def _names(lines: Sequence[Line], keep: Callable[[str], bool]) -> list[str]:
    return [name for name in dict.fromkeys(line.evaluator for line in lines) if keep(name)]


def _is_swept(name: str) -> bool:
    return SWEPT in name or SWEPT_CHANCE in name


def _is_itself(name: str) -> bool:
    """Neither a threshold of the sweep nor the placebo."""
    return not _is_swept(name) and not name.endswith(CHANCE)


def _is_learned(name: str) -> bool:
    return name.split(",")[0] in LEARNED


def _chosen(lines: Sequence[Line], name: str, mode: str, split: str) -> list[Line]:
    return [
        line for line in lines if (line.evaluator, line.mode, line.split) == (name, mode, split)
    ]


def _cell(
    lines: Sequence[Line], name: str, mode: str, split: str, metric: str, digits: int = 3
) -> str:
    made = _chosen(lines, name, mode, split)
    chosen = [line for line in made if line.values.get(metric) is not None]
    if not chosen:
        return "—"
    values = [float(line.values[metric] or 0.0) for line in chosen]
    words = [f"{fmean(values):.{digits}f}"]
    intervals = [line.sure[metric] for line in chosen if metric in line.sure]
    if intervals:
        low, high = (fmean(side) for side in zip(*intervals, strict=True))
        words.append(f"[{low:.2f}, {high:.2f}]")
    if len(values) < len(made):
        words.append(f"({len(values)} of {len(made)} seeds)")
    if len(values) > 1:
        words.append(f"({min(values):.{digits}f} to {max(values):.{digits}f})")
    return " ".join(words)

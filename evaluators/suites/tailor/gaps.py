"""The long-tail gap and the setting gap: differences between cells of the index, the latter by the
questions that both settings ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluators.contracts import ALL, Cell, Facets


def gaps(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The long-tail gap wherever all scenarios are together, the setting gap wherever both settings
    are."""
    index = {cell.facets: cell for cell in cells if cell.metric == "index"}
    shared = {cell.facets: cell for cell in cells if cell.metric == "shared_index"}
    return (
        *(gap for address in index if (gap := _long_tail(index, address))),
        *(gap for address in shared if (gap := _setting(shared, address))),
    )


def _long_tail(index: Mapping[Facets, Cell], at: Facets) -> Cell | None:
    """Regular minus the mean of unconventional and impossible."""
    if at.scenario != ALL:
        return None
    names = ("regular", "unconventional", "impossible")
    parts = [index.get(Facets(name, at.task, at.setting, at.modality)) for name in names]
    return _gap("long_tail_gap", at, index[at], parts, (1.0, -0.5, -0.5))


def _setting(index: Mapping[Facets, Cell], at: Facets) -> Cell | None:
    """Descriptive minus predictive."""
    if at.setting != ALL:
        return None
    parts = [
        index.get(Facets(at.scenario, at.task, name, at.modality))
        for name in ("descriptive", "predictive")
    ]
    return _gap("setting_gap", at, index[at], parts, (1.0, -1.0))


def _gap(
    name: str, at: Facets, whole: Cell, parts: Sequence[Cell | None], weights: Sequence[float]
) -> Cell:
    values = [part.value for part in parts if part and part.value is not None]
    if len(values) < len(weights):
        return Cell(
            name,
            at,
            None,
            whole.n_scored,
            whole.n_expected,
            "one side of the difference has no value",
        )
    value = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return Cell(name, at, value, whole.n_scored, whole.n_expected)

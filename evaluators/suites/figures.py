"""The figures of the papers: reads the tables packaged beside each suite and settles what several
tables print."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files

from evaluators.contracts import Fact, Published


def read_table(suite: str, name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a suite's packaged table, every cell as printed."""
    path = files("evaluators.suites").joinpath(suite, "data", "published", f"{name}.csv")
    return tuple(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def read_facts(suite: str) -> tuple[Fact, ...]:
    """The rows of a suite's facts table."""
    return tuple(
        Fact(row["quantity"], row["value"], row.get("unit_or_note", ""))
        for row in read_table(suite, "facts")
    )


def one_per_address(rows: Iterable[Published]) -> tuple[Published, ...]:
    """The first row of every address; its note says what the later tables print there.

    Papers repeat a run in several tables, and not always with the same number.
    """
    rows_by_address: dict[tuple[object, ...], list[Published]] = {}
    for row in rows:
        rows_by_address.setdefault((row.model, row.metric, row.facets, row.evaluator), []).append(
            row
        )
    return tuple(_with_echoes(first, later) for first, *later in rows_by_address.values())


def join_notes(*notes: str) -> str:
    """The notes that say something, as sentences in a row."""
    return " ".join(note for note in notes if note)


def _with_echoes(first: Published, later: list[Published]) -> Published:
    echoes = dict.fromkeys(_echo(first, row) for row in later if row.source != first.source)
    return replace(first, note=join_notes(first.note, *echoes))


def _echo(first: Published, row: Published) -> str:
    table = row.source.rpartition(", ")[2]
    if (row.value, row.spread) == (first.value, first.spread):
        return f"{table} prints the same."
    spread = "" if row.spread is None else f" ± {row.spread:g}"
    return f"{table} prints {row.value:g}{spread}."

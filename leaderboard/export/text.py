"""The board as text that other programs read."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from leaderboard.queries.ranking import RankedEntry

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def as_csv(entries: Sequence[RankedEntry]) -> str:
    """One line an entry; text that a spreadsheet would run is made inert."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(RankedEntry)])
    writer.writerows([[_inert(value) for value in _plain(entry).values()] for entry in entries])
    return text.getvalue()


def as_json(entries: Sequence[RankedEntry]) -> str:
    """A list of objects, numbers in full."""
    return json.dumps([_plain(entry) for entry in entries], indent=1, ensure_ascii=False) + "\n"


def frame_as_csv(frame: pd.DataFrame) -> bytes:
    """A table of the page; text that a spreadsheet would run is made inert, in the heads too."""
    return _lines([[str(name) for name in frame.columns]]) + csv_rows(frame)


def csv_rows(frame: pd.DataFrame) -> bytes:
    """The same without heads, for a table that comes in parts."""
    return _lines(_values(frame))


def _lines(rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [[_inert(value) for value in row] for row in rows]
    )
    return text.getvalue().encode()


def frame_as_json(frame: pd.DataFrame) -> bytes:
    """A table of the page as a list of objects."""
    return b"[\n" + json_rows(frame) + b"\n]\n"


def json_rows(frame: pd.DataFrame) -> bytes:
    """The objects alone, for a table that comes in parts."""
    names = [str(name) for name in frame.columns]
    rows = (dict(zip(names, row, strict=True)) for row in _values(frame))
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def frame_as_parquet(frame: pd.DataFrame) -> bytes:
    """A table of the page as Parquet, types kept."""
    renamed = frame.set_axis([str(name) for name in frame.columns], axis=1)
    return bytes(renamed.to_parquet(index=False))


def _values(frame: pd.DataFrame) -> list[list[Any]]:
    """Rows as JSON and CSV know them; missing is None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [[_bare(value) for value in row] for row in plain.itertuples(index=False, name=None)]


def _bare(value: Any) -> Any:
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return (
        value.isoformat()
        if hasattr(value, "isoformat")
        else value.item()
        if hasattr(value, "item")
        else value
    )


def _plain(entry: RankedEntry) -> dict[str, Any]:
    row = asdict(entry)
    return {**row, "published_at": entry.published_at.isoformat() if entry.published_at else None}


def _inert(value: Any) -> Any:
    """Text stays on its line and begins no formula."""
    if not isinstance(value, str):
        return value
    text = CONTROL.sub(" ", value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text

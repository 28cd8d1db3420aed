"""Every cell of a suite as CSV, JSON and Parquet, written part by part: millions take no more
memory than a few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from infra.store import landing
from leaderboard.draw.frames import cell_table
from leaderboard.export.text import csv_rows, frame_as_csv, json_rows
from leaderboard.queries.entries import Figure

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    **dict.fromkeys(("value", "low", "high", "spread"), "float64"),
    **dict.fromkeys(("n_scored", "n_expected"), "Int64"),
}
"""Said beforehand: a part whose column is empty tells nothing of the next."""


def write(folder: Path, figures: Iterable[Sequence[Figure]]) -> list[Path]:
    """Three files with the same cells, each whole or not at all; none if there are no cells."""
    frames = (cell_table(part).astype(KINDS) for part in figures if part)
    first = next(frames, None)
    if first is None:
        return []
    paths = [folder / f"cells.{kind}" for kind in ("csv", "json", "parquet")]
    with ExitStack() as stack:
        csv, json, parquet = (stack.enter_context(landing(path)) for path in paths)
        _fill(csv, json, parquet, chain((first,), frames))
    return paths


def _fill(csv: BinaryIO, json: BinaryIO, parquet: BinaryIO, frames: Iterator[pd.DataFrame]) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    first = next(frames)
    csv.write(frame_as_csv(first))
    json.write(b"[\n" + json_rows(first))
    table = pa.Table.from_pandas(first, preserve_index=False)
    with closing(ParquetWriter(parquet, table.schema)) as rows:
        rows.write_table(table)
        for frame in frames:
            csv.write(csv_rows(frame))
            json.write(b",\n" + json_rows(frame))
            rows.write_table(pa.Table.from_pandas(frame, table.schema, preserve_index=False))
    json.write(b"\n]\n")

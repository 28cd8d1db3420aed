"""Standings as bytes: a board of thousands is written anew with each entry, and JSON made that slow."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
KEY = ("board", "samples_sha256", "modality", "metric", "scenario", "task", "setting")
LISTS = ("sizes", "rank", "better", "worse", "above")
NOTHING = -(1 << 31)


def upgrade() -> None:
    _rewrite(sa.LargeBinary(), _packed)


def downgrade() -> None:
    _rewrite(sa.JSON(), _listed)


def _rewrite(kind: Any, turn: Callable[[Any], Any]) -> None:
    """The same rows in a table whose lists are of another type; a database cannot turn one into the other by itself."""
    bind = op.get_bind()
    found = bind.execute(sa.text("SELECT * FROM standing")).mappings().all()  # noqa: S608
    op.drop_table("standing")
    made = op.create_table(
        "standing",
        *(sa.Column(name, sa.String(), nullable=False) for name in KEY),
        sa.Column("clusters", sa.Integer(), nullable=False),
        sa.Column("bar", sa.Float(), nullable=False),
        *(sa.Column(name, kind, nullable=False) for name in LISTS),
        sa.PrimaryKeyConstraint(*KEY, name=op.f("pk_standing")),
    )
    rows = [{**row, **{name: turn(row[name]) for name in LISTS}} for row in found]
    if rows:
        bind.execute(sa.insert(made), rows)


def _packed(value: Any) -> bytes:
    numbers = json.loads(value) if isinstance(value, str) else value
    return np.array([NOTHING if one is None else one for one in numbers], "<i4").tobytes()


def _listed(value: bytes) -> list[int | None]:
    return [None if one == NOTHING else one for one in np.frombuffer(value, "<i4").tolist()]

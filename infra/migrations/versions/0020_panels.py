"""How far the judges of a panel were apart about a run."""

import sqlalchemy as sa
from alembic import op

from infra.tables.columns import WIDE

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "panel_split",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("board", sa.String(), nullable=False),
        sa.Column("questions", WIDE, nullable=False),
        sa.Column("split", WIDE, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_panel_split_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_panel_split")),
    )
    op.create_index(op.f("ix_panel_split_board"), "panel_split", ["board"])


def downgrade() -> None:
    op.drop_index(op.f("ix_panel_split_board"), table_name="panel_split")
    op.drop_table("panel_split")

"""PostgreSQL finds all runs' cells at one address in one place; SQLite needs no index for that."""

from alembic import op

revision = "0015"
down_revision = "0014"

KEY = ["metric", "scenario", "task", "setting", "modality"]


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.create_index("ix_cell_address", "cell", KEY)


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_index("ix_cell_address", "cell")

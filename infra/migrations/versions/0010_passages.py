"""Passages: prompts and the changelog as rows, for the Methods page."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "passage",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "suite", "name", name=op.f("pk_passage")),
    )


def downgrade() -> None:
    op.drop_table("passage")

"""Flags: remarks about single outputs."""

import sqlalchemy as sa
from alembic import op


revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "flag",
        sa.Column("submission_id", sa.String(), nullable=False),
        sa.Column("sample_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_flag_submission_id_submission")
        ),
        sa.PrimaryKeyConstraint("submission_id", "sample_id", "kind", name=op.f("pk_flag")),
    )


def downgrade() -> None:
    op.drop_table("flag")

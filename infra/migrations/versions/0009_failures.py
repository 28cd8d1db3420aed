"""What went wrong in outputs that did badly."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "failure",
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("sample_id", sa.String(), nullable=False),
        sa.Column("primary", sa.String(), nullable=True),
        sa.Column("modes", sa.JSON(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_failure_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "sample_id", name=op.f("pk_failure")),
    )


def downgrade() -> None:
    op.drop_table("failure")

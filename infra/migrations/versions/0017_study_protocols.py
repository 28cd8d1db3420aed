"""What the rater's page knows of a suite's protocol."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "study_protocol",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("adjudicated", sa.Boolean(), nullable=False),
        sa.Column("examples", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_study_protocol")),
    )


def downgrade() -> None:
    op.drop_table("study_protocol")

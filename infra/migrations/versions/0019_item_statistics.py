"""Item statistics: what judged outputs say of each question."""

import sqlalchemy as sa
from alembic import op

from infra.tables.columns import WIDE, UtcTime

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "item_statistic",
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("suite", "instance", "question", "version")
        ),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        *(sa.Column(name, WIDE, nullable=False) for name in ("n", "entries")),
        sa.Column("difficulty", sa.Float(), nullable=False),
        *(
            sa.Column(name, sa.Float(), nullable=True)
            for name in ("discrimination", "disagreement")
        ),
        sa.Column("fallen", sa.Float(), nullable=False),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["suite"], ["suite.name"], name=op.f("fk_item_statistic_suite_suite")
        ),
        sa.PrimaryKeyConstraint(
            "suite", "instance", "question", name=op.f("pk_item_statistic")
        ),
    )


def downgrade() -> None:
    op.drop_table("item_statistic")

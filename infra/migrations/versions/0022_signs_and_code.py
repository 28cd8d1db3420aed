"""Signs of life of processes, and the modules behind each hash of scoring code."""

import sqlalchemy as sa
from alembic import op

from infra.tables.columns import UtcTime

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "sign",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sign")),
    )
    op.create_table(
        "code_version",
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("code_sha256", "suite", "release", "commit")
        ),
        sa.Column("modules", sa.JSON(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("code_sha256", "suite", name=op.f("pk_code_version")),
    )


def downgrade() -> None:
    op.drop_table("code_version")
    op.drop_table("sign")

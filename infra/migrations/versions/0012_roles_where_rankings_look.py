"""A ranking reads an entry's role without reading past its manifest, which lists every file."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("declared", sa.Column("role", sa.String(), server_default="entry", nullable=False))
    op.execute(
        "UPDATE declared SET role = (SELECT submission.role FROM submission "
        "WHERE submission.id = declared.submission_id)"
    )


def downgrade() -> None:
    with op.batch_alter_table("declared") as batch_op:
        batch_op.drop_column("role")
